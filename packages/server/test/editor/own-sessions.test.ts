/** Tests which sessions an editor lists, and which turns it stops. */
import { methods } from '@agentclientprotocol/sdk/unstable';
import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stage } from './editor.ts';

async function opened() {
  const { command, args, env, control } = await acpAgent({
    turns: [{ steps: [{ gate: 'asked' }, { say: 'Done.' }] }],
  });
  onTestFinished(() => control.close());
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const made = await stage({ provide: () => new AcpDriver({ ...about, command, args, env }) });
  return { ...made, control, zed: await made.editor() };
}

test('an archived session is not listed until it is unarchived', async () => {
  const { runtime, zed } = await opened();
  const [kept, archived] = [await zed.create(), await zed.create()];
  const listed = async () => {
    const { sessions } = await zed.agent.request(methods.agent.session.list, {});
    return sessions.map(({ sessionId }) => sessionId).sort();
  };
  await runtime.archive(archived);
  expect(await listed()).toEqual([kept]);
  await runtime.unarchive(archived);
  expect(await listed()).toEqual([kept, archived].sort());
});

test('if an editor stops while its second message waits, both messages are stopped, and the agent gets only the first message', async () => {
  const { runtime, zed, control } = await opened();
  const sessionId = await zed.create();
  const first = zed.prompt(sessionId, 'First.');
  await control.reached('asked');
  const second = zed.prompt(sessionId, 'Second.');
  await expect.poll(async () => (await runtime.info(sessionId)).queue).toHaveLength(1);
  const [remove, cancel] = [vi.spyOn(runtime, 'removeQueued'), vi.spyOn(runtime, 'cancel')];
  await zed.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await second).toMatchObject({ stopReason: 'cancelled' });
  expect(await first).toMatchObject({ stopReason: 'cancelled' });
  // If the turn were stopped first, the waiting message could begin before it was removed from the queue.
  expect(remove.mock.invocationCallOrder[0]).toBeLessThan(cancel.mock.invocationCallOrder[0]!);
  const prompts = control.received.filter(({ method }) => method === 'session/prompt');
  expect(prompts.map(({ line }) => line)).toEqual([expect.stringContaining('First.')]);
});
