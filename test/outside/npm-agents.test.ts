/** Tests sessions of the real Gemini CLI and Qwen Code across restarts of the server. */
import { join } from 'node:path';
import type { AgentSession } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import { openedSessions } from '@liminal/agents/testing';
import {
  ageGeminiSessions,
  byChatPrompt,
  chat,
  geminiCall,
  geminiEnvironment,
  geminiReply,
  makeWorkspace,
  npmAgent,
  qwenEnvironment,
  startChatCompletionsApi,
  startGeminiApi,
  type Workspace,
} from '@liminal/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serverStage } from './server-stage.ts';

interface ScriptedModel {
  readonly url: string;
  close(): Promise<void>;
}

/** Each agent reads a file in its third turn, which is the last turn before the restart. */
const models = {
  gemini: (path: string) =>
    startGeminiApi([
      geminiReply('First answer.'),
      geminiReply('Second answer.'),
      geminiReply('I read it.', geminiCall('read_file', { file_path: path })),
      geminiReply('Third answer.'),
      geminiReply('Fourth answer.'),
    ]),
  // Qwen Code also sends requests to the model outside of its turns.
  qwen: (path: string) =>
    startChatCompletionsApi({
      script: byChatPrompt({
        'First message.': [chat.answer('First answer.')],
        'Second message.': [chat.answer('Second answer.')],
        'Third message.': [
          chat.answer([chat.text('I read it.'), chat.call('read_file', { file_path: path })]),
          chat.answer('Third answer.'),
        ],
        'Fourth message.': [chat.answer('Fourth answer.')],
        '': [chat.answer('{}')],
      }),
    }),
};
const environments = { gemini: geminiEnvironment, qwen: qwenEnvironment };

async function npmStage(agent: 'gemini' | 'qwen') {
  const command = await npmAgent(agent);
  const workspace: Workspace = await makeWorkspace({ 'notes.txt': 'one\n' });
  const { home, projectDir } = workspace;
  const model: ScriptedModel = await models[agent](join(projectDir, 'notes.txt'));
  const inherited = await environments[agent](home, model.url);
  onTestFinished(async () => {
    await model.close();
    await workspace.remove();
  });
  const names = { cliType: agent, name: agent, description: 'Named, not known.' };
  // A program of this size takes long to start on a busy machine.
  const limits = { startLimitMs: 100_000, openLimitMs: 100_000 };
  const sessions: AgentSession[][] = [];
  const provide = (): AcpDriver => {
    const driver = new AcpDriver({ ...names, ...limits, command, args: ['--acp'], inherited });
    sessions.push(openedSessions(driver));
    return driver;
  };
  return Object.assign(await serverStage(projectDir, provide), {
    /** The sessions that each server has opened. */
    sessions,
    age: agent === 'gemini' ? () => ageGeminiSessions(home) : undefined,
  });
}

describe.each(['gemini', 'qwen'] as const)('%s', (agent) => {
  test('the agent keeps running from turn to turn, and after a restart of the server no turn is shown twice', async () => {
    const stage = await npmStage(agent);
    const sessionId = await stage.create();
    const prompts = ['First message.', 'Second message.', 'Third message.'];
    for (const prompt of prompts) await stage.runTurn(sessionId, prompt);
    expect(stage.sessions.flat().map(({ isAlive }) => isAlive)).toEqual([true]);
    const answers = ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'];
    const all = [...prompts, 'Fourth message.'].flatMap((prompt, at) => [
      `user: ${prompt}`,
      ...(at === 2 ? ['agent: I read it.'] : []),
      `agent: ${answers[at]}`,
    ]);
    expect(await stage.history(sessionId)).toEqual(all.slice(0, 7));

    await stage.restart(stage.age);
    await stage.runTurn(sessionId, 'Fourth message.');

    expect(await stage.history(sessionId)).toEqual(all);
    expect(stage.warnings).toEqual([]);
  });
});
