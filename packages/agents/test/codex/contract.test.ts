import {
  answer,
  byModelPrompt,
  execCommand,
  gate,
  httpError,
  message,
  times,
} from '@liminal/testkit';
import { processSuite, providerSuite, type ProcessUnderTest } from '../../src/testing/index.ts';
import { codexProcesses } from './processes.ts';
import { codexStage } from './running-codex.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Make a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};

/** Sets up the real Codex with a model that answers these prompts. */
async function setup(): Promise<ProcessUnderTest> {
  const script = byModelPrompt({
    [prompts.text]: [answer('Something.')],
    [prompts.tool]: [answer(execCommand('echo used')), answer('Used.')],
    [prompts.approval]: [
      answer(execCommand('touch new.txt', { escalate: 'It is needed.' })),
      answer('So be it.'),
    ],
    [prompts.slow]: [answer(message(['For ever ', gate()]))],
    [prompts.error]: times(20, httpError(400)),
  });
  const stage = await codexStage(() => script, {
    codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
  });
  return {
    provider: stage.provide(),
    projectDir: stage.workspace.projectDir,
    prompts,
    crash: async () => {
      for (const pid of codexProcesses(stage.workspace.home)) process.kill(pid, 'SIGKILL');
    },
    teardown: () => stage.close(),
  };
}

providerSuite('codex', setup);
processSuite('codex', setup);
