import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { apiError, byPrompt, gate, opencodeBinary, reply, text, toolUse } from '@liminal/testkit';
import { processSuite, providerSuite, type ProcessUnderTest } from '../../src/testing/index.ts';
import { processesOf } from '../claude-code/processes.ts';
import { opencodeStage } from './running-opencode.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Make a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};

/** Starts the real opencode, with a model that answers these prompts. */
async function setup(): Promise<ProcessUnderTest> {
  const stage = await opencodeStage(
    ({ projectDir }) =>
      byPrompt({
        [prompts.text]: [reply('Something.')],
        [prompts.tool]: [
          reply(toolUse('read', { filePath: join(projectDir, 'notes.txt') })),
          reply('Used.'),
        ],
        [prompts.approval]: [
          reply(toolUse('write', { filePath: join(projectDir, 'new.txt'), content: 'new\n' })),
          reply('So be it.'),
        ],
        [prompts.slow]: [reply(text(['For ever ', gate()]))],
        [prompts.error]: [apiError(400)],
      }),
    { 'notes.txt': 'one\n' },
  );
  return {
    provider: stage.provide(),
    projectDir: stage.workspace.projectDir,
    prompts,
    crash: async () => {
      for (const pid of opencodeIn(stage.workspace.home)) process.kill(pid, 'SIGKILL');
    },
    teardown: () => stage.close(),
  };
}

const opencodeIn = (home: string): number[] =>
  processesOf(home).filter((pid) => readlinkSync(`/proc/${pid}/exe`) === opencodeBinary());

providerSuite('opencode', setup);
processSuite('opencode', setup);
