import { describe, expect, it } from 'vitest';
import { applyMessage } from './apply-message.ts';
import { addPending, bindPending, failPending, visiblePending } from './pending.ts';
import { head, history, info, message, sessionId, upsert } from './testing/items.ts';
import { emptyView } from './view.ts';

const started = applyMessage(
  emptyView(sessionId),
  history('snapshot', [head('t1', { status: 'complete' })], [message('t1', 'a')]),
  0,
);
const sending = addPending(started, 'local-1', 'Do it');
const userMessage = message('t2', 'u', { origin: 'user', content: 'Do it', status: 'complete' });

describe('a message that was sent from here', () => {
  it('is shown at once', () => {
    expect(visiblePending(sending)).toMatchObject([{ message: 'Do it', state: 'sending' }]);
  });

  it('gives way to the user message of its turn', () => {
    const bound = bindPending(sending, 'local-1', 't2');
    expect(visiblePending(bound)).toHaveLength(1);
    expect(applyMessage(bound, upsert(userMessage), 0).pending).toEqual([]);
  });

  it('is not shown twice when its turn is quicker than the answer to the request', () => {
    const early = applyMessage(sending, upsert(userMessage), 0);
    expect(visiblePending(early)).toEqual([]);
    expect(bindPending(early, 'local-1', 't2').pending).toEqual([]);
  });

  it('an equal message of an earlier turn does not hide it', () => {
    const before = applyMessage(started, upsert(userMessage), 0);
    expect(visiblePending(addPending(before, 'local-1', 'Do it'))).toHaveLength(1);
  });

  it('gives way to the queue', () => {
    const queued = { turnId: 't2', message: 'Do it', queuedAt: '', state: 'queued' } as const;
    const told = { type: 'session:info', sessionId, info: info({ queue: [queued] }) } as const;
    const early = applyMessage(sending, told, 0);
    expect(visiblePending(early)).toEqual([]);
    expect(bindPending(early, 'local-1', 't2').pending).toEqual([]);
  });

  it('keeps its text when it fails, and says why', () => {
    const failed = failPending(sending, 'local-1', { code: 'PROCESS_CRASH', message: 'It ended.' });
    expect(visiblePending(failed)).toMatchObject([
      { message: 'Do it', state: 'failed', error: { code: 'PROCESS_CRASH' } },
    ]);
  });
});
