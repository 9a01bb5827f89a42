import { AcpProvider } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { stage } from './editor.ts';

test('a new session of an agent without settings is there as soon as the agent is', async () => {
  const scripted = await acpAgent({ on: { 'session/new': [{ gate: 'new' }] } });
  onTestFinished(() => scripted.control.close());
  const { command, args, env, control } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const { editor } = await stage({
    provide: () => new AcpProvider({ ...about, command, args, env }),
  });
  const zed = await editor();
  const created = zed.create();
  await control.reached('new');
  const before = performance.now();
  control.open('new');
  await created;
  // It does not wait the 3 s in which an agent may tell some.
  expect(performance.now() - before).toBeLessThan(2_500);
});
