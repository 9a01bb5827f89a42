/** The contract of all agents, run on Codex over ACP: the maintained adapter with the real Codex. */
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
import { adapterStage, adaptersIn } from './running-codex-adapter.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Make a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};

const makeFile = execCommand('touch new.txt', { escalate: 'It is needed.' });

async function setup(): Promise<ProcessUnderTest> {
  const script = byModelPrompt({
    [prompts.text]: [answer('Something.')],
    [prompts.tool]: [answer(execCommand('echo used')), answer('Used.')],
    [prompts.approval]: [answer(makeFile), answer('So be it.')],
    [prompts.slow]: [answer(message(['For ever ', gate()]))],
    [prompts.error]: times(20, httpError(400)),
  });
  const stage = await adapterStage(() => script, { mode: 'workspace-write' });
  return {
    provider: stage.provide(),
    projectDir: stage.workspace.projectDir,
    prompts,
    // Codex ends the turn at a refusal, without asking its model.
    afterRefusal: 'cancelled',
    crash: async () => {
      for (const pid of adaptersIn(stage.workspace.home)) process.kill(pid, 'SIGKILL');
    },
    teardown: () => stage.close(),
  };
}

providerSuite('codex-acp', setup);
processSuite('codex-acp', setup);
