import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { gate, reply, text } from '@liminal/testkit';
import { expect, test, vi } from 'vitest';
import { said, shareClaude } from './running-claude.ts';

/** What the SDK has started, in order. */
const running: Query[] = [];

vi.mock(import('../../src/claude-code/sdk.ts'), async (original) => {
  const sdk = await (await original()).loadSdk();
  const query: typeof sdk.query = (params) => {
    const started = sdk.query(params);
    running.push(started);
    return started;
  };
  return { loadSdk: async () => ({ ...sdk, query }) };
});

const share = shareClaude();

/** A turn in the middle of its sentence. */
async function halfway() {
  const rest = gate();
  const { listener, provider } = share(() => [
    reply(text(['Half a sent', rest, 'ence.'])),
    reply('Yes.'),
  ]);
  const { turnId } = await listener.send('Talk.');
  await listener.event(({ type }) => type === 'item_delta');
  const cancel = async () => provider.cancelTurn(listener.sessionId);
  return { listener, turnId, rest, cancel, interrupt: vi.spyOn(running[0]!, 'interrupt') };
}

test('FR-002-01: an interrupt that fails is told with its reason; the turn goes on to its end, and the session after it', async () => {
  const { listener, turnId, rest, cancel, interrupt } = await halfway();
  const cause = new Error('The pipe is closed.');
  interrupt.mockRejectedValueOnce(cause);
  await expect(cancel()).rejects.toMatchObject({
    code: 'INTERRUPT_FAILED',
    message: expect.stringContaining('The pipe is closed.'),
    cause,
  });
  expect(listener.response(turnId).status).toBe('in_progress');
  rest.open();
  expect(said(await listener.ended(turnId))).toEqual(['user: Talk.', 'agent: Half a sentence.']);
  expect(said(await listener.ask('Still there?'))).toEqual(['user: Still there?', 'agent: Yes.']);
});

test('a turn whose interrupt failed can be interrupted again', async () => {
  const { listener, turnId, cancel, interrupt } = await halfway();
  interrupt.mockRejectedValueOnce(new Error('Not now.'));
  await expect(cancel()).rejects.toMatchObject({ code: 'INTERRUPT_FAILED' });
  await cancel();
  expect((await listener.ended(turnId)).status).toBe('aborted');
});
