/** Tests an editor that stops a turn only after the turn has ended. */
import { AcpDriver } from '@liminal/agents/acp';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stage } from './editor.ts';

test('if an editor stops its own turn after this turn has ended, another client’s turn is not stopped', async () => {
  const { command, args, env, control } = await acpAgent({
    turns: [
      { when: 'First', steps: [{ say: 'One.' }] },
      { steps: [{ gate: 'two' }, { say: 'Two.' }] },
    ],
  });
  onTestFinished(() => control.close());
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const { editor, runtime } = await stage({
    provide: () => new AcpDriver({ ...about, command, args, env }),
  });
  const [zed, other] = [await editor(), await editor()];
  const sessionId = await zed.create();
  await other.load(sessionId);
  const told = Promise.withResolvers<void>();
  const getRun = runtime.getRun.bind(runtime);
  vi.spyOn(runtime, 'getRun').mockImplementation(async (runId) => {
    await told.promise;
    return getRun(runId);
  });

  const first = zed.prompt(sessionId, 'First.');
  await expect
    .poll(async () => (await runtime.history(sessionId)).turns)
    .toEqual([expect.objectContaining({ status: 'complete' })]);
  const second = other.prompt(sessionId, 'Second.');
  await control.reached('two');
  const info = vi.spyOn(runtime, 'info');
  await zed.agent.notify(methods.agent.session.cancel, { sessionId });
  await expect.poll(() => info.mock.settledResults).not.toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  control.open('two');
  told.resolve();
  expect(await second).toMatchObject({ stopReason: 'end_turn' });
  expect(await first).toMatchObject({ stopReason: 'end_turn' });
});
