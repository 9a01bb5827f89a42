/** Turns that something other than the agent ended, and the response that the editor gets to its prompt. */
import { isDeepStrictEqual } from 'node:util';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import type { RuntimeSettings } from '@liminal/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { stage } from './editor.ts';

/** Starts an editor whose prompt is running. The agent has sent some text and then hangs. */
async function waiting(settings?: Partial<RuntimeSettings>) {
  const scripted = await acpAgent({ turns: [{ steps: [{ say: 'Half of it.' }, { hang: true }] }] });
  onTestFinished(() => scripted.control.close());
  const { command, args, env } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const provide = () => new AcpDriver({ ...about, command, args, env });
  const { runtime, editor } = await stage({ provide, ...(settings && { settings }) });
  const zed = await editor();
  const sessionId = await zed.create();
  const answered = zed.prompt(sessionId, 'Hello.');
  return { runtime, zed, sessionId, answered };
}

test('FR-039-06, AS-039-4: if a notification ends a turn, the stop reason is end_turn, and the turn keeps its text', async () => {
  const { runtime, zed, sessionId, answered } = await waiting();
  await zed.until(() => zed.agentText.includes('Half of it.') || undefined);
  await runtime.notify(sessionId);
  expect(await answered).toMatchObject({ stopReason: 'end_turn' });
  expect(zed.agentText).toContain('Half of it.');
});

test('FR-039-06, AS-039-5: if the idle limit ends a turn, the stop reason is cancelled, with the error', async () => {
  // On a busy machine, the limit may be reached before the agent has sent any text.
  const { answered } = await waiting({ idleLimitMs: 100 });
  expect(await answered).toMatchObject({
    stopReason: 'cancelled',
    _meta: {
      liminal: {
        error: {
          code: 'IDLE_TIMEOUT',
          message: 'The agent said nothing for 0.1 seconds, so the turn was ended.',
        },
      },
    },
  });
});

test('if a person stops a turn, the queue pauses, and editors get a notice and a field about this; the next prompt resumes the queue', async () => {
  const scripted = await acpAgent({
    turns: [{ when: 'Hello', steps: [{ say: 'Half of it.' }, { hang: true }] }, { steps: [] }],
  });
  onTestFinished(() => scripted.control.close());
  const { command, args, env } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const provide = () => new AcpDriver({ ...about, command, args, env });
  const { runtime, editor } = await stage({ provide });
  const zed = await editor({ capabilities: { session: { notices: {} } } });
  const sessionId = await zed.create();
  const answered = zed.prompt(sessionId, 'Hello.');
  await zed.until(() => zed.agentText.includes('Half of it.') || undefined);
  await runtime.send(sessionId, 'Of another.');

  await zed.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await answered).toMatchObject({ stopReason: 'cancelled' });
  const isPaused = (wanted: boolean) =>
    zed.until((updates) =>
      updates.find(
        (update) =>
          update.sessionUpdate === 'session_info_update' &&
          isDeepStrictEqual(update._meta, { liminal: { queuePaused: wanted } }),
      ),
    );
  await isPaused(true);
  const notice = await zed.until((updates) =>
    updates.find((update) => update.sessionUpdate === 'notice'),
  );
  expect(notice).toMatchObject({ title: 'The queue is paused: a message waits.' });
  expect(await zed.prompt(sessionId, 'On.')).toMatchObject({ stopReason: 'end_turn' });
  await isPaused(false);
  const said = async () => {
    const { entries } = await runtime.history(sessionId);
    return entries.flatMap((one) =>
      one.type === 'message' && one.origin === 'user' ? [one.content] : [],
    );
  };
  await expect.poll(said).toEqual(['Hello.', 'On.', 'Of another.']);
});
