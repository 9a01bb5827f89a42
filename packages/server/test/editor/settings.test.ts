import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AttachedSession } from '../../src/acp/attached-session.ts';
import { stage } from './editor.ts';

test('if an agent has no settings, a new session is ready as soon as the agent has started', async () => {
  const scripted = await acpAgent({ on: { 'session/new': [{ gate: 'new' }] } });
  onTestFinished(() => scripted.control.close());
  const { command, args, env, control } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const { editor } = await stage({
    provide: () => new AcpDriver({ ...about, command, args, env }),
  });
  const zed = await editor();
  const created = zed.create();
  await control.reached('new');
  // Make the limit for the agent's settings longer than this test may take.
  const { settingsKnown } = AttachedSession.prototype;
  vi.spyOn(AttachedSession.prototype, 'settingsKnown').mockImplementation(async function (
    this: AttachedSession,
  ) {
    await settingsKnown.call(this, 60 * 60_000);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  control.open('new');
  await expect(created).resolves.toEqual(expect.any(String));
});
