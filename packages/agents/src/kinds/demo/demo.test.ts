import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverProvider } from '../../base/driver-provider.ts';
import { providerSuite } from '../../testing/provider-suite.ts';
import { DemoDriver } from './index.ts';

providerSuite('demo', async () => {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-demo-'));
  return {
    provider: new DriverProvider(new DemoDriver({ speed: 500 })),
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
