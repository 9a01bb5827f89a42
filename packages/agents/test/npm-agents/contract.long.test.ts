/** Runs the tests for every provider on the real Gemini CLI and Qwen Code. */
import { join } from 'node:path';
import {
  chat,
  gate,
  geminiCall,
  geminiEnvironment,
  geminiError,
  geminiReply,
  type GeminiRequest,
  qwenEnvironment,
  startChatCompletionsApi,
  startGeminiApi,
  type Workspace,
} from '@liminal/testkit';
import { processSuite, providerSuite, type ProcessUnderTest } from '../../src/testing/index.ts';
import { processesOf } from '../claude-code/processes.ts';
import { npmStage } from './stage.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Make a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};

/**
 * Returns the last prompt in a request's text: an agent may repeat the prompt of a killed turn before the next prompt.
 */
const asked = (words: string): string | undefined =>
  Object.values(prompts)
    .filter((one) => words.includes(one))
    .toSorted((one, other) => words.lastIndexOf(one) - words.lastIndexOf(other))
    .at(-1);

const startQwenModel = ({ projectDir }: Workspace) =>
  startChatCompletionsApi({
    script: ({ prompt, body }) => {
      const isOwn = !JSON.stringify(body.messages[0]).includes('You are Qwen Code');
      if (isOwn) return chat.answer('{}');
      if (body.messages.at(-1)?.role === 'tool') return chat.answer('Done.');
      if (asked(prompt) === prompts.tool) {
        return chat.answer(chat.call('read_file', { file_path: join(projectDir, 'notes.txt') }));
      }
      if (asked(prompt) === prompts.approval) {
        const command = { command: 'rm -f notes.txt', is_background: false };
        return chat.answer(chat.call('run_shell_command', command));
      }
      if (asked(prompt) === prompts.slow) return chat.answer(chat.text(['For ever ', gate()]));
      return asked(prompt) === prompts.error ? chat.httpError(400) : chat.answer('Something.');
    },
  });

const hasResult = ({ body }: GeminiRequest): boolean =>
  body.contents.at(-1)?.parts?.some((part) => 'functionResponse' in part) === true;

const startGeminiModel = ({ projectDir }: Workspace) =>
  startGeminiApi((request) => {
    const { prompt } = request;
    if (hasResult(request)) return geminiReply('Done.');
    if (asked(prompt) === prompts.tool) {
      return geminiReply(geminiCall('read_file', { file_path: join(projectDir, 'notes.txt') }));
    }
    if (asked(prompt) === prompts.approval) {
      const file = { file_path: join(projectDir, 'new.txt'), content: 'new\n' };
      return geminiReply(geminiCall('write_file', file));
    }
    if (asked(prompt) === prompts.slow) return geminiReply('For ever ', gate());
    return asked(prompt) === prompts.error ? geminiError(400) : geminiReply('Something.');
  });

const files = { 'notes.txt': 'one\n' };
const stages = {
  gemini: () =>
    npmStage({
      agent: 'gemini',
      startModel: startGeminiModel,
      environment: geminiEnvironment,
      files,
    }),
  qwen: () =>
    npmStage({ agent: 'qwen', startModel: startQwenModel, environment: qwenEnvironment, files }),
};

for (const agent of ['gemini', 'qwen'] as const) {
  const setup = async (): Promise<ProcessUnderTest> => {
    const { provide, projectDir, workspace, close } = await stages[agent]();
    return {
      provider: provide(),
      projectDir,
      prompts,
      crash: async () => {
        for (const pid of processesOf(workspace.home)) process.kill(pid, 'SIGKILL');
      },
      teardown: close,
    };
  };
  providerSuite(agent, setup);
  processSuite(agent, setup);
}
