import { acpAgent, contractPrompts, contractScript, makeWorkspace } from '@liminal/testkit';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AcpDriver } from '../../src/kinds/acp/index.ts';
import { processSuite, providerSuite, type ProcessUnderTest } from '../../src/testing/index.ts';

/** Starts the scripted agent as a configuration would. */
async function setup(): Promise<ProcessUnderTest> {
  const { projectDir, remove } = await makeWorkspace();
  const { command, args, env, control } = await acpAgent({
    ...contractScript,
    offers: { fork: true },
  });
  const names = { cliType: 'scripted', name: 'Scripted', description: 'Plays a script.' };
  return {
    provider: new DriverProvider(new AcpDriver({ ...names, command, args, env })),
    projectDir,
    prompts: contractPrompts,
    crash: () => control.crash(),
    teardown: async () => {
      await control.close();
      await remove();
    },
  };
}

providerSuite('acp', setup);
processSuite('acp', setup);
