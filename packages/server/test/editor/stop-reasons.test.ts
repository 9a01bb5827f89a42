/** Turns that the agent did not end itself, as the editor that asked for them sees their end. */
import { AcpProvider } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import type { RuntimeSettings } from '@liminal/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { stage } from './editor.ts';

/** An editor that waits for an agent which has said something and says no more. */
async function waiting(settings?: Partial<RuntimeSettings>) {
  const scripted = await acpAgent({ turns: [{ steps: [{ say: 'Half of it.' }, { hang: true }] }] });
  onTestFinished(() => scripted.control.close());
  const { command, args, env } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const provide = () => new AcpProvider({ ...about, command, args, env });
  const { runtime, editor } = await stage({ provide, ...(settings && { settings }) });
  const zed = await editor();
  const sessionId = await zed.create();
  const answered = zed.prompt(sessionId, 'Hello.');
  return { runtime, zed, sessionId, answered };
}

test('FR-039-06, AS-039-4: a turn that a notification ends has the stop reason end_turn, with all that was said', async () => {
  const { runtime, zed, sessionId, answered } = await waiting();
  await zed.until(() => zed.said.includes('Half of it.') || undefined);
  await runtime.notify(sessionId);
  expect(await answered).toMatchObject({ stopReason: 'end_turn' });
  expect(zed.said).toContain('Half of it.');
});

test('FR-039-06, AS-039-5: a turn that the idle limit ends has the stop reason cancelled, and says why', async () => {
  const { answered, zed } = await waiting({ idleLimitMs: 100 });
  expect(await answered).toMatchObject({
    stopReason: 'cancelled',
    _meta: { liminal: { error: { code: 'IDLE_TIMEOUT' } } },
  });
  expect(zed.said).toContain('Half of it.');
});
