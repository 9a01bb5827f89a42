import { setImmediate } from 'node:timers/promises';
import type { EventPayload, ServerMessage, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import type { EventLog } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { FollowedSession } from './followed-session.ts';
import { useFakeDelays } from './testing/fake-delays.ts';
import { sessionInfo } from './testing/session-info.ts';

beforeEach(useFakeDelays);

const { sessionId } = sessionInfo.session;
const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };
const item: EventPayload = {
  type: 'item_start',
  itemId: 'a',
  itemType: 'message',
  origin: 'agent',
};
const delta: EventPayload = { type: 'item_delta', itemId: 'a', deltaContent: 'Hi' };
const done: EventPayload = { type: 'response_done', status: 'completed' };

/** A run of four events, of this session. */
const runNamed = (runId: string, of = sessionId): StreamEvent[] =>
  runOf([start, item, delta, done], { runId, turnId: runId, sessionId: of });

function openFollowed() {
  const { log, store } = openMemoryStorage();
  const troubles: unknown[] = [];
  /** Replacements for the log's methods, to simulate faults. */
  const faults: { follow?: EventLog['follow']; read?: EventLog['read'] } = {};
  const reached: EventLog = {
    append: async (...args) => log.append(...args),
    read: async (...args) => (faults.read ? faults.read(...args) : log.read(...args)),
    follow: (...args) => (faults.follow ? faults.follow(...args) : log.follow(...args)),
    unsettled: async () => log.unsettled(),
    settle: async (runId) => log.settle(runId),
    close: async () => log.close(),
  };
  const followed = new FollowedSession({
    sessionId,
    storage: { log: reached, store },
    postedState: { info: sessionInfo },
    now: () => Date.now(),
    onTrouble: (error) => troubles.push(error),
  });
  const { subscribers: view } = followed;
  const calls: string[] = [];
  const resync = view.resync.bind(view);
  vi.spyOn(view, 'resync').mockImplementation((options = {}) => {
    calls.push(options.fromBeginning === true ? 'resync from the beginning' : 'resync');
    resync(options);
  });
  const apply = view.apply.bind(view);
  vi.spyOn(view, 'apply').mockImplementation((events) => {
    calls.push(...events.map(({ eventId }) => eventId));
    apply(events);
  });
  const keep = async (events: readonly StreamEvent[]) => {
    const response = toResponse(events.reduce(foldResponse, emptyResponse()));
    if (response) await store.saveResponse(response);
  };
  const post = (runId?: string) =>
    followed.posted({ info: sessionInfo, ...(runId !== undefined && { runId }) });
  /** Subscribes with this cursor. Returns a short form of the messages that the subscriber gets. */
  const subscribe = (cursor?: string) => {
    const got: string[] = [];
    const send = ({ message }: { message: ServerMessage }) => {
      if (message.type === 'session:history') {
        got.push(`${message.resumed} ${message.turns.map((turn) => turn.turnId).join(' ')}`);
      } else if (message.type === 'session:turn') {
        got.push(`${message.payload.type} ${message.payload.turnId}`);
      } else if (message.type === 'session:info') {
        got.push(`info ${message.info.session.title}`);
      }
      return true;
    };
    view.subscribe({ deltas: true, ...(cursor !== undefined && { cursor }) }, { send });
    return got;
  };
  return { followed, view, log, store, troubles, faults, calls, keep, post, subscribe };
}

/** Runs all work that can run now, and the timers that are due within `ms`. */
const advance = async (ms = 0) => {
  await setImmediate();
  await vi.advanceTimersByTimeAsync(ms);
  await setImmediate();
};

test('a session that is opened shows its own runs in the log, and no run of another session', async () => {
  const { followed, view, log } = openFollowed();
  await log.append('1', runNamed('1').slice(0, 3));
  await log.append('2', runNamed('2', 'two').slice(0, 3));
  await followed.open();
  expect(view.progress('1')).toMatchObject({ lastSeq: 2, hasEnded: false });
  expect(view.progress('2')).toBeUndefined();
  expect(view.openRuns.map(({ id }) => id)).toEqual(['1']);
  await log.append('1', runNamed('1').slice(3));
  await followed.read();
  expect(view.progress('1')).toMatchObject({ lastSeq: 3, hasEnded: true });
});

test('a state that the owner posts is shown, and counted', async () => {
  const { followed, post, subscribe } = openFollowed();
  await followed.open();
  const got = subscribe();
  await advance();
  expect(followed.postedCount).toBe(0);
  expect(followed.info).toBe(sessionInfo);
  const info = { ...sessionInfo, session: { ...sessionInfo.session, title: 'Posted' } };
  followed.posted({ info });
  await advance(100);
  expect(followed.postedCount).toBe(1);
  expect(followed.info).toBe(info);
  expect(got.at(-1)).toBe('info Posted');
  post();
  expect(followed.postedCount).toBe(2);
});

test('a run that is posted is read from the log, each event once', async () => {
  const { followed, log, calls, post, subscribe } = openFollowed();
  await followed.open();
  const got = subscribe();
  await advance();
  await log.append('1', runNamed('1').slice(0, 2));
  post('1');
  post('1');
  await advance();
  await log.append('1', runNamed('1').slice(2));
  await followed.read();
  expect(calls.filter((call) => call.startsWith('1:'))).toEqual(['1:0', '1:1', '1:2', '1:3']);
  expect(got.filter((one) => one.includes('turn_'))).toEqual(['turn_started 1', 'turn_complete 1']);
  post('1');
  await advance(60_000);
  expect(calls.filter((call) => call.startsWith('1:'))).toHaveLength(4);
});

test('if reading the log fails, the error is reported, and a second later the reading continues', async () => {
  const { followed, log, faults, calls, troubles, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1'));
  const error = new Error('Redis is away.');
  let tries = 0;
  faults.follow = async function* follow(runId, options) {
    tries += 1;
    for await (const event of log.follow(runId, options)) {
      if (event.seq === 2 && tries === 1) throw error;
      yield event;
    }
  };
  post('1');
  await advance(999);
  expect(troubles).toEqual([error]);
  expect(calls.filter((call) => call.startsWith('1:'))).toEqual(['1:0', '1:1']);
  await advance(1);
  await followed.read();
  expect(calls.filter((call) => call.startsWith('1:'))).toEqual(['1:0', '1:1', '1:2', '1:3']);
  expect(tries).toBe(2);
});

test('INV-7: events that the log has dropped before they were read are read from history', async () => {
  const { followed, view, log, keep, faults, calls, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 3));
  await keep(runNamed('1').slice(0, 3));
  faults.follow = (runId, options = {}) =>
    log.follow(runId, { ...options, after: Math.max(options.after ?? -1, 1) });
  post('1');
  await advance();
  expect(view.progress('1')).toMatchObject({ lastSeq: 2 });
  expect(view.openRuns).toMatchObject([{ outputItems: [{ content: 'Hi' }] }]);
  await log.append('1', runNamed('1').slice(3));
  await followed.read();
  expect(calls.filter((call) => call.startsWith('1:'))).toEqual(['1:3']);
});

test('a run that began and ended in history before this server knew of the run is shown from the beginning, once', async () => {
  const { followed, calls } = openFollowed();
  await followed.open();
  followed.settled('1');
  expect(calls).toEqual(['resync from the beginning']);
  followed.settled('1');
  expect(calls).toHaveLength(1);
});

test('once history has a run that was shown to its end, the run is forgotten without a resync', async () => {
  const { followed, view, log, calls, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1'));
  post('1');
  await followed.read();
  await advance();
  const before = calls.length;
  followed.settled('1');
  expect(view.progress('1')).toBeUndefined();
  expect(calls).toHaveLength(before);
});

test('the twenty runs that came into history last are not read from the log again, but earlier runs are', async () => {
  const { followed, faults, post } = openFollowed();
  await followed.open();
  const read: string[] = [];
  faults.follow = async function* follow(runId) {
    read.push(runId);
    yield* [];
  };
  // Run 1 is reported a second time, so it is among the last twenty.
  for (let at = 0; at <= 20; at += 1) followed.settled(`${at}`);
  followed.settled('1');
  followed.settled('21');
  for (const runId of ['1', '21', '3', '2', '0']) post(runId);
  await advance();
  expect(read).toEqual(['2', '0']);
});

test('a run that history has is read from the log for two more seconds, and then from history', async () => {
  const { followed, view, log, keep, calls, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 2));
  post('1');
  await advance();
  await keep(runNamed('1'));
  followed.settled('1');
  const before = calls.length;
  await advance(1_999);
  expect(view.progress('1')).toMatchObject({ lastSeq: 1 });
  expect(calls).toHaveLength(before);
  await advance(1);
  expect(view.progress('1')).toBeUndefined();
  expect(calls.slice(before)).toContain('resync from the beginning');
});

test('a run that history has is not resynced if the log still returns the run’s end', async () => {
  const { followed, view, log, calls, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 3));
  post('1');
  await advance();
  followed.settled('1');
  await log.append('1', runNamed('1').slice(3));
  await advance(10_000);
  expect(calls.at(-1)).toBe('1:3');
  expect(view.progress('1')).toBeUndefined();
});

test('INV-7: after a gap, readers catch up, open runs are followed, and runs that history has are forgotten', async () => {
  const { followed, view, log, keep, calls } = openFollowed();
  await log.append('1', runNamed('1'));
  await log.append('2', runNamed('2').slice(0, 3));
  await followed.open();
  await advance();
  await keep(runNamed('1'));
  await log.append('3', runNamed('3').slice(0, 1));
  const before = calls.length;
  const info = { ...sessionInfo, session: { ...sessionInfo.session, title: 'Mended' } };
  await followed.refresh({ info });
  expect(calls[before]).toBe('resync');
  expect(calls.at(-1)).toBe('resync');
  expect(followed.info).toBe(info);
  expect(view.progress('1')).toBeUndefined();
  await advance();
  expect(view.progress('2')).toMatchObject({ lastSeq: 2 });
  // Run 2 has not ended, so run 3 waits for the end of run 2.
  await advance(10_000);
  expect(view.progress('3')).toMatchObject({ lastSeq: 0 });
  await followed.refresh(undefined);
  expect(followed.info).toBe(info);
});

test('after a gap, a run of which history has only a part is not forgotten', async () => {
  const { followed, view, log, keep } = openFollowed();
  await log.append('1', runNamed('1'));
  await followed.open();
  await keep(runNamed('1').slice(0, 3));
  await followed.refresh(undefined);
  expect(view.progress('1')).toMatchObject({ hasEnded: true });
});

test('a run that the log has lost is shown from history as soon as history has its end', async () => {
  const { followed, view, log, keep, faults, calls, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 3));
  const lost = Promise.withResolvers<void>();
  faults.follow = async function* follow() {
    yield* runNamed('1').slice(0, 3);
    await lost.promise;
  };
  post('1');
  await advance();
  expect(view.progress('1')).toMatchObject({ lastSeq: 2 });
  lost.resolve();
  await advance();
  expect(view.progress('1')).toBeUndefined();
  expect(calls.at(-1)).toBe('resync from the beginning');
  const before = calls.length;
  await advance(5_000);
  expect(calls).toHaveLength(before);
  await keep(runNamed('1'));
  await advance(1_000);
  expect(calls.slice(before)).toEqual(['resync from the beginning']);
});

test('a run that the log lacks is shown once, from history, when history has its end', async () => {
  const { followed, keep, faults, calls, post } = openFollowed();
  await followed.open();
  await keep(runNamed('1'));
  faults.follow = async function* follow() {
    yield* [];
  };
  post('1');
  await advance(60_000);
  expect(calls).toEqual(['resync from the beginning']);
});

test('INV-7: if the log has lost the end of a run, the next run waits until history has this end', async () => {
  const { followed, view, log, keep, faults, post } = openFollowed();
  await followed.open();
  await log.append('2', runNamed('2'));
  faults.follow = async function* follow(runId, options) {
    if (runId === '1') yield* runNamed('1').slice(0, 3);
    else yield* log.follow(runId, options);
  };
  post('1');
  await advance();
  post('2');
  await advance(3_000);
  expect(view.progress('2')).toBeUndefined();
  await keep(runNamed('1'));
  await advance(1_000);
  expect(view.progress('2')).toMatchObject({ hasEnded: true });
});

test('INV-7: a run waits at most ten seconds for the end of an earlier run', async () => {
  const { followed, view, log, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 3));
  await log.append('2', runNamed('2'));
  await log.append('3', runNamed('3'));
  post('1');
  await advance();
  post('2');
  await advance(9_999);
  expect(view.progress('2')).toBeUndefined();
  await advance(1);
  expect(view.progress('2')).toMatchObject({ hasEnded: true });
  post('3');
  await advance();
  await log.append('1', runNamed('1').slice(3));
  await advance();
  expect(view.progress('3')).toMatchObject({ hasEnded: true });
});

test('INV-7: runs in history that subscribers have not seen are shown before the next run, unless they have not ended', async () => {
  const { followed, log, keep, calls, post, subscribe } = openFollowed();
  await keep(runNamed('1'));
  await followed.open();
  const got = subscribe();
  await advance();
  expect(got).toContain('snapshot 1');
  await keep(runNamed('2'));
  await keep(runNamed('3').slice(0, 1));
  await log.append('4', runNamed('4'));
  post('4');
  await followed.read();
  await advance();
  expect(calls.filter((call) => call === 'resync')).toHaveLength(1);
  expect(got.join(', ')).toMatch(/2 3 4/);
});

test('a run that follows the newest run of history causes no resync from history', async () => {
  const { followed, log, keep, calls, post } = openFollowed();
  await keep(runNamed('1'));
  await keep(runNamed('2'));
  await followed.open();
  await log.append('3', runNamed('3'));
  post('3');
  await followed.read();
  expect(calls).toEqual(['3:0', '3:1', '3:2', '3:3']);
});

test('a subscriber whose cursor is in a run that is being read waits until this server has read up to the cursor', async () => {
  const { followed, log, post, subscribe } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 2));
  post('1');
  await advance();
  const got = subscribe('1:2');
  await advance(9_000);
  expect(got).toEqual([]);
  await log.append('1', runNamed('1').slice(2, 3));
  await advance();
  expect(got[0]).toMatch(/^tail/);
});

test('a subscriber whose cursor this server does not reach within ten seconds gets the whole session', async () => {
  const { followed, log, post, subscribe } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 2));
  post('1');
  await advance();
  const got = subscribe('1:3');
  await advance(9_999);
  expect(got).toEqual([]);
  await advance(20_000);
  expect(got[0]).toMatch(/^snapshot/);
});

test('a subscriber whose cursor is in a run that is in the log but was not posted to this server gets the remaining events of the run', async () => {
  const { followed, log, subscribe } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 2));
  const got = subscribe('1:0');
  await advance();
  expect(got[0]).toBe('tail 1');
  await log.append('1', runNamed('1').slice(2));
  await advance();
  expect(got).toContain('turn_complete 1');
});

test('closing stops the reading of runs, and resolves when the reading has ended', async () => {
  const { followed, log, calls, post, subscribe } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 2));
  post('1');
  await advance();
  subscribe();
  await advance();
  expect(followed.subscribers.counts.all).toBe(1);
  await followed.close();
  expect(followed.subscribers.counts.all).toBe(0);
  await log.append('1', runNamed('1').slice(2));
  await advance(60_000);
  expect(calls.filter((call) => call.startsWith('1:'))).toEqual(['1:0', '1:1']);
});

test('closing ends the wait for a run that the log has lost', async () => {
  const { followed, faults, calls, post } = openFollowed();
  await followed.open();
  faults.follow = async function* follow() {
    yield* runNamed('1').slice(0, 3);
  };
  post('1');
  await advance();
  const before = calls.length;
  await followed.close();
  await advance(60_000);
  expect(calls).toHaveLength(before);
});

test('a page of history shows a run that is still running as in progress', async () => {
  const { followed, log, post } = openFollowed();
  await followed.open();
  await log.append('1', runNamed('1').slice(0, 1));
  post('1');
  await advance();
  const page = await followed.history.page();
  expect(page.turns).toMatchObject([{ turnId: '1', status: 'in_progress' }]);
});
