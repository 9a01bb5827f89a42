import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providerSuite } from '../../testing/provider-suite.ts';
import { createDemoProvider } from './index.ts';

providerSuite('demo', async () => {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-demo-'));
  return {
    provider: createDemoProvider({ speed: 500 }),
    projectDir,
    prompts: {
      text: 'explain',
      tool: 'fix',
      approval: 'approve',
      slow: 'slow',
      error: 'error',
    },
    teardown: () => rm(projectDir, { recursive: true }),
  };
});
