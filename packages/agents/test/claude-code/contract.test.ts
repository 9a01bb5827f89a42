import { join } from 'node:path';
import {
  apiError,
  byPrompt,
  claudeEnvironment,
  gate,
  makeWorkspace,
  reply,
  startMessagesApi,
  text,
  times,
  toolUse,
} from '@liminal/testkit';
import { vi } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { ClaudeDriver } from '../../src/kinds/claude-code/index.ts';
import { processSuite, providerSuite, type ProcessUnderTest } from '../../src/testing/index.ts';
import { claudePid } from './processes.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Write a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};

/** The real Claude Code with a scripted model that answers these prompts. */
async function setup(): Promise<ProcessUnderTest> {
  const { home, projectDir, remove } = await makeWorkspace();
  const written = { file_path: join(projectDir, 'new.txt'), content: 'new' };
  const script = byPrompt({
    [prompts.text]: [reply('Something.')],
    [prompts.tool]: [reply(toolUse('Bash', { command: 'echo used' })), reply('Used.')],
    [prompts.approval]: [reply(toolUse('Write', written)), reply('So be it.')],
    [prompts.slow]: [reply(text(['For ever ', gate()]))],
    [prompts.error]: times(20, apiError(400)),
  });
  const api = await startMessagesApi({ script });
  const env = claudeEnvironment(home, api.url);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  return {
    provider: new DriverProvider(new ClaudeDriver({ env })),
    projectDir,
    prompts,
    crash: async (sessionId) => void process.kill(claudePid(sessionId), 'SIGKILL'),
    teardown: async () => {
      vi.unstubAllEnvs();
      await api.close();
      await remove();
    },
  };
}

providerSuite('claude-code', setup);
processSuite('claude-code', setup);
