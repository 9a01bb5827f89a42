import { describe, expect, it } from 'vitest';
import type { OutboxChange } from '../outbox/outbox.ts';
import { applyMessage } from './apply-message.ts';
import { applyOutboxChange } from './pending.ts';
import { head, history, info, message, sessionId, upsert } from './testing/items.ts';
import { emptyView } from './view.ts';

const started = applyMessage(
  emptyView(sessionId),
  history('snapshot', [head('t1', { status: 'complete' })], [message('t1', 'a')]),
  0,
);
const change = (state: OutboxChange['state'], rest: Partial<OutboxChange> = {}): OutboxChange => ({
  turnId: 't2',
  sessionId,
  message: 'Do it',
  sentAt: 0,
  state,
  ...rest,
});
const sending = applyOutboxChange(started, change('sending'));
const userMessage = message('t2', 'u', { origin: 'user', content: 'Do it', status: 'complete' });

describe('a message sent from here', () => {
  it('a sent message is shown at once', () => {
    expect(sending.pending).toMatchObject([{ message: 'Do it', state: 'sending' }]);
  });

  it('a sent message is shown as pending until the server shows it', () => {
    const sent = applyOutboxChange(sending, change('delivered'));
    expect(sent.pending).toMatchObject([{ state: 'sent' }]);
    expect(applyMessage(sent, upsert(userMessage), 0).pending).toEqual([]);
  });

  it('a message is not shown twice if its turn arrives before the response to the request that sent the message', () => {
    const early = applyMessage(sending, upsert(userMessage), 0);
    expect(early.pending).toEqual([]);
    expect(applyOutboxChange(early, change('delivered')).pending).toEqual([]);
    expect(applyOutboxChange(early, change('waiting')).pending).toEqual([]);
  });

  it('a sent message is not hidden by an equal message of another turn', () => {
    const other = message('t3', 'u', { origin: 'user', content: 'Do it', status: 'complete' });
    expect(applyMessage(sending, upsert(other), 0).pending).toHaveLength(1);
  });

  it('a message for the running turn is replaced by its item in that turn, or by its own turn', () => {
    const steering = applyOutboxChange(started, change('sending', { isSteer: true }));
    const other = message('t1', 'u', { origin: 'user', content: 'Do it' });
    expect(applyMessage(steering, upsert(other), 0).pending).toHaveLength(1);
    const said = message('t1', 't1:said:t2', { origin: 'user', content: 'Do it' });
    expect(applyMessage(steering, upsert(said), 0).pending).toEqual([]);
    expect(applyMessage(steering, upsert(userMessage), 0).pending).toEqual([]);
  });

  it('a pending message is replaced when the queue shows it', () => {
    const queued = { turnId: 't2', message: 'Do it', queuedAt: '', state: 'queued' } as const;
    const told = { type: 'session:info', sessionId, info: info({ queue: [queued] }) } as const;
    expect(applyMessage(sending, told, 0).pending).toEqual([]);
  });

  it('a message is shown as waiting for the server, and disappears if it is withdrawn', () => {
    const waiting = applyOutboxChange(sending, change('waiting'));
    expect(waiting.pending).toMatchObject([{ state: 'waiting' }]);
    expect(applyOutboxChange(waiting, change('gone')).pending).toEqual([]);
  });

  it('if a message is refused, its text and the reason are shown', () => {
    const problem = { code: 'PROCESS_CRASH', message: 'It ended.' };
    expect(applyOutboxChange(sending, change('refused', { problem })).pending).toMatchObject([
      { message: 'Do it', state: 'failed', error: problem },
    ]);
  });
});
