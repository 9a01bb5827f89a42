import { emptyResponse, foldUpsert, resumeUpsertFold, type StreamEvent } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { HistoryReader } from '../history/index.ts';
import { Supervisor } from '../turn/index.ts';
import { LocalSubscribers } from './local-subscribers.ts';

const delta = { type: 'item_delta', itemId: 'm', deltaContent: 'word ' } as const;
const runEvents = (runId: string): StreamEvent[] =>
  runOf(
    [
      { type: 'response_start', modelId: 'm', providerId: 'p' },
      { type: 'item_start', itemId: 'm', itemType: 'message' },
      ...Array.from({ length: 50 }, () => delta),
    ],
    { runId },
  );

/** How often the times of events are read: each fold of an event reads the event's time. */
function timesRead(events: readonly StreamEvent[], apply: (event: StreamEvent) => void): number {
  let count = 0;
  for (const event of events) {
    const get = () => {
      count += 1;
      return event.timestamp;
    };
    apply(Object.defineProperty({ ...event }, 'timestamp', { get }));
  }
  return count;
}

function emptySession() {
  const subscribers: LocalSubscribers = new LocalSubscribers({
    sessionId: 'session-1',
    history: new HistoryReader({
      sessionId: 'session-1',
      store: openMemoryStorage().store,
      live: () => subscribers,
      iso: () => '',
    }),
    info: () => expect.fail('Nothing was to be sent.'),
    supervisor: new Supervisor((error) => expect.fail(String(error))),
  });
  return subscribers;
}

// The transport of these subscriptions has no room, so that they get no messages.
const sink = { send: () => false, whenRoom: () => {} };

test('events are folded into full states only while a subscriber takes full states', () => {
  const events = runEvents('run-1');
  let state = resumeUpsertFold(emptyResponse(), { appends: true });
  const once = timesRead(events, (event) => ({ state } = foldUpsert(state, event, 0)));

  const session = emptySession();
  const timesReadIn = (runId: string) =>
    timesRead(runEvents(runId), (event) => session.apply([event]));
  expect(timesReadIn('run-1')).toBe(once);
  const live = session.subscribe({ deltas: true }, sink);
  expect(timesReadIn('run-2')).toBe(once);
  const plain = session.subscribe({ deltas: false }, sink);
  expect(timesReadIn('run-3')).toBe(once + events.length);
  plain.close();
  expect(timesReadIn('run-4')).toBe(once);
  live.close();
  session.close();
});
