import { setImmediate as everythingAtHand } from 'node:timers/promises';
import type { ServerMessage, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { type EventLog, type ResponseStore } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test, vi } from 'vitest';
import type { PostedState } from '../../src/cluster/posted-state.ts';
import { FollowedSession } from '../../src/cluster/followed-session.ts';
import type { Outgoing } from '../../src/api.ts';

const run: StreamEvent[] = runOf([
  { type: 'response_start', modelId: 'model-1', providerId: 'scripted' },
  { type: 'response_done', status: 'completed' },
]);
const [{ sessionId, runId }] = run as [StreamEvent];
const time = '2026-01-01T00:00:00.000Z';
const postedState: PostedState = {
  info: {
    session: {
      sessionId,
      cliType: 'scripted',
      projectId: '/',
      projectDir: '/',
      title: '',
      createdAt: time,
      updatedAt: time,
      active: true,
      isAlive: false,
      state: 'idle',
      source: 'liminal',
    },
    queue: [],
    configOptions: [],
    commands: [],
  },
};

/** The events of `run`, for a run with other ids. */
const runNamed = (id: string): StreamEvent[] =>
  runOf(
    run.map(({ payload }) => payload),
    { runId: id, turnId: id, sessionId },
  );

async function keep(store: ResponseStore, events: readonly StreamEvent[]): Promise<void> {
  const response = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (response) await store.saveResponse(response);
}

function replicaOf(storage: { log: EventLog; store: ResponseStore }): FollowedSession {
  const onTrouble = (error: unknown) => expect.fail(String(error));
  return new FollowedSession({ sessionId, storage, postedState, now: Date.now, onTrouble });
}

test('a run that comes into history while a reader subscribes is shown in its place', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  const read: EventLog['read'] = async (...args) => {
    const events = await log.read(...args);
    await keep(store, run);
    await log.settle(runId);
    followed.settled(runId);
    return events;
  };
  const unsettled: EventLog['unsettled'] = async () => log.unsettled();
  const slow: EventLog = { ...log, read, unsettled };
  const followed: FollowedSession = replicaOf({ log: slow, store });
  await followed.open();
  expect(followed.subscribers.openRuns).toEqual([]);
  expect((await followed.history.page()).turns).toMatchObject([{ turnId: run[0]?.turnId }]);
  await followed.close();
});

test('INV-7: a reader that already has a part of run 2 still gets run 1, which it lacks', async () => {
  const { log, store } = openMemoryStorage();
  await keep(store, runNamed('1'));
  const followed = replicaOf({ log, store });
  await followed.open();
  const told: ServerMessage[] = [];
  const send = ({ message }: Outgoing) => told.push(message) > 0;
  const subscription = followed.subscribers.subscribe({ deltas: true }, { send });
  const turnIds = () => told.flatMap((one) => (one.type === 'session:history' ? [one.turns] : []));
  await expect.poll(() => turnIds().at(-1)).toMatchObject([{ turnId: '1' }]);

  await keep(store, runNamed('2'));
  await log.append('3', runNamed('3'));
  followed.posted({ ...postedState, runId: '3' });
  await expect.poll(() => turnIds().at(-1)).toMatchObject([{ turnId: '2' }, { turnId: '3' }]);
  expect(cursorsBefore(told, '2')).not.toContain('3:0');
  subscription.close();
  await followed.close();
});

test('INV-7: no reader gets a part of the next run before the end of an earlier run that this server reads slowly', async () => {
  const { log, store, slow, followed } = await openedSlow();
  const first = watch(followed);
  await expect.poll(() => first.told).toEqual(['snapshot in_progress']);

  await keep(store, runNamed('1'));
  await log.append('2', runNamed('2'));
  followed.posted({ ...postedState, runId: '2' });
  await expect.poll(() => first.told.join(', ')).toMatch(/tail complete/);
  slow.catchUp();
  await followed.read();
  expect(first.told[1]).toMatch(/^tail complete/);
  // The rest of the slow run is not needed.
  expect(slow.given).toEqual(new Set(['2:0', '2:1']));
  expect(followed.subscribers.openRuns).toMatchObject([{ id: '2', status: 'complete' }]);
  first.subscription.close();
  await followed.close();
});

test('INV-7: no reader gets a part of the next run before the earlier run’s end, if the log has that end and history does not', async () => {
  const { log, slow, followed } = await openedSlow();
  const { told, subscription } = watch(followed);
  await expect.poll(() => told).toEqual(['snapshot in_progress']);

  await log.append('2', runNamed('2'));
  followed.posted({ ...postedState, runId: '2' });
  await expect.poll(() => slow.given).toContain('2:0');
  await everythingAtHand();
  expect(told).toEqual(['snapshot in_progress']);
  slow.catchUp();
  await followed.read();
  expect(told.slice(1)).toEqual(['turn_complete 1', 'turn_started 2', 'turn_complete 2']);
  subscription.close();
  await followed.close();
});

/** The cursors of the messages before a history with this turn. */
function cursorsBefore(told: readonly ServerMessage[], turnId: string): string[] {
  const end = told.findIndex(
    (one) => one.type === 'session:history' && one.turns.some((turn) => turn.turnId === turnId),
  );
  return told.slice(0, end).flatMap((one) => ('cursor' in one ? one.cursor : []));
}

/** A log that returns only the first event of one run, or of all runs, until `catchUp` is called. */
function lagging(log: EventLog, runId?: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const given = new Set<string>();
  const isSlow = (id: string): boolean => runId === undefined || id === runId;
  const slow: EventLog = {
    append: async (...args) => log.append(...args),
    read: async (id) => log.read(id, isSlow(id) ? { limit: 1 } : {}),
    async *follow(...args) {
      for await (const event of log.follow(...args)) {
        if (event.seq > 0 && isSlow(event.runId)) await promise;
        if (!args[1]?.signal?.aborted) given.add(event.eventId);
        yield event;
      }
    },
    unsettled: async () => log.unsettled(),
    settle: async (id) => log.settle(id),
    close: async () => log.close(),
  };
  return { log: slow, catchUp: resolve, given };
}

/** A session opened when log and history both have only the first event of run 1, which has ended. */
async function openedSlow() {
  const { log, store } = openMemoryStorage();
  await log.append('1', runNamed('1'));
  await keep(store, runNamed('1').slice(0, 1));
  const slow = lagging(log, '1');
  const followed = replicaOf({ log: slow.log, store });
  await followed.open();
  return { log, store, slow, followed };
}

/** Subscribes, and collects the messages about turns. */
function watch(followed: FollowedSession, cursor?: string) {
  const told: string[] = [];
  const send = ({ message }: Outgoing) => {
    if (message.type === 'session:turn') {
      told.push(`${message.payload.type} ${message.payload.turnId}`);
    }
    if (message.type === 'session:history') {
      told.push([message.resumed, ...message.turns.map(({ status }) => status)].join(' '));
    }
    return true;
  };
  const options = { deltas: true, ...(cursor !== undefined && { cursor }) };
  return { told, subscription: followed.subscribers.subscribe(options, { send }) };
}

test('INV-7: a reader that has a turn’s end never sees the turn running again on a server that is behind', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  await keep(store, run.slice(0, 1));
  const slow = lagging(log);
  const followed = replicaOf({ log: slow.log, store });
  await followed.open();
  const first = watch(followed);
  await expect.poll(() => first.told).toEqual(['snapshot in_progress']);

  const { told, subscription } = watch(followed, `${runId}:1`);
  await everythingAtHand();
  expect(told).toEqual([]);
  slow.catchUp();
  await expect.poll(() => told).toEqual(['tail']);
  expect(first.told).toEqual(['snapshot in_progress', 'turn_complete turn-1']);
  subscription.close();
  first.subscription.close();
  await followed.close();
});

test('INV-7: a turn that a reader got from history does not begin again when the log is read', async () => {
  const { log, store } = openMemoryStorage();
  const followed = replicaOf({ log, store });
  await followed.open();
  await log.append(runId, run);
  await keep(store, run);
  const { told, subscription } = watch(followed);
  await expect.poll(() => told).toEqual(['snapshot complete']);
  followed.posted({ ...postedState, runId });
  await followed.read();
  await everythingAtHand();
  expect(told).toEqual(['snapshot complete']);
  subscription.close();
  await followed.close();
});

test('INV-7: a turn that came into history while its first event was read does not begin again', async () => {
  const { log, store } = openMemoryStorage();
  const followed = replicaOf({ log, store });
  await followed.open();
  await log.append(runId, run);
  const reader = Promise.withResolvers<ReturnType<typeof watch>>();
  const listRuns = store.listRuns.bind(store);
  vi.spyOn(store, 'listRuns').mockImplementationOnce(async (...args) => {
    const heads = await listRuns(...args);
    await keep(store, run);
    const { told, subscription } = watch(followed);
    await expect.poll(() => told).toEqual(['snapshot complete']);
    reader.resolve({ told, subscription });
    return heads;
  });
  followed.posted({ ...postedState, runId });
  const { told, subscription } = await reader.promise;
  await followed.read();
  await everythingAtHand();
  expect(told).toEqual(['snapshot complete']);
  subscription.close();
  await followed.close();
});

test('INV-7: a server that is behind a reader, and closes before it has caught up, sends the reader nothing older', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  await keep(store, run.slice(0, 1));
  const followed = replicaOf({ log: lagging(log).log, store });
  await followed.open();
  await Promise.all([followed.close(), log.close()]);
  const { told } = watch(followed, `${runId}:1`);
  await everythingAtHand();
  expect(told).toEqual([]);
});

test('INV-7: a run that a reader knows from another server is found, even if it was not posted to this server', async () => {
  const { log, store } = openMemoryStorage();
  const followed = replicaOf({ log, store });
  await followed.open();
  await log.append(runId, run);
  const { told, subscription } = watch(followed, `${runId}:0`);
  await expect.poll(() => told).toEqual(['tail complete']);
  subscription.close();
  await followed.close();
});

test('a turn whose end is in history is never shown as running, and readers that have a part of it get its end in order', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  const slow = lagging(log);
  const followed = replicaOf({ log: slow.log, store });
  await followed.open();
  await keep(store, run);
  expect((await followed.history.page()).turns).toMatchObject([{ status: 'complete' }]);

  const { told, subscription } = watch(followed);
  await everythingAtHand();
  expect(told).toEqual([]);
  slow.catchUp();
  await expect.poll(() => told).toEqual(['snapshot complete']);
  subscription.close();
  await followed.close();
});

test('INV-7: a reader that continues in turn 2 does not get turn 1 again, even if turn 1 is still open on this server', async () => {
  const { log, store } = openMemoryStorage();
  await log.append('1', runNamed('1'));
  await keep(store, runNamed('1'));
  const followed = replicaOf({ log, store });
  await followed.open();
  await followed.read();
  await keep(store, runNamed('2').slice(0, 1));
  const { told, subscription } = watch(followed, '2:0');
  await expect.poll(() => told).toEqual(['tail']);
  subscription.close();
  await followed.close();
});

test('INV-7: a reader that continues in turn 2 gets no part of turn 1, even if this server has not read the end of turn 1', async () => {
  const { store, slow, followed } = await openedSlow();
  await keep(store, runNamed('1'));
  await keep(store, runNamed('2').slice(0, 1));
  const { told, subscription } = watch(followed, '2:0');
  await everythingAtHand();
  expect(told).toEqual([]);
  slow.catchUp();
  await followed.read();
  await expect.poll(() => told).toEqual(['tail']);
  subscription.close();
  await followed.close();
});

test('a reader with a cursor of an unknown run does not wait', async () => {
  const { log, store } = openMemoryStorage();
  await keep(store, run);
  const followed = replicaOf({ log, store });
  await followed.open();
  const { told, subscription } = watch(followed, 'another:7');
  await expect.poll(() => told).toEqual(['snapshot complete']);
  subscription.close();
  await followed.close();
});

test('an open run is shown where it began, before a later run that is over', async () => {
  const { log, store } = openMemoryStorage();
  const begun = runNamed('1').slice(0, 1);
  await log.append('1', begun);
  await keep(store, begun);
  await keep(store, runNamed('2'));
  const followed = replicaOf({ log, store });
  await followed.open();
  const { turns, cursor } = await followed.history.page();
  expect(turns).toMatchObject([
    { turnId: '1', status: 'in_progress' },
    { turnId: '2', status: 'complete' },
  ]);
  expect(cursor).toBe('2:1');
  await followed.close();
});

test('INV-7 a run that is posted and continues while it is read for the first reader is complete', async () => {
  const { log, store } = openMemoryStorage();
  const said = runOf(
    [
      { type: 'response_start', modelId: 'm', providerId: 'scripted' },
      { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
      ...['1 ', '2 ', '3 '].map(
        (deltaContent) => ({ type: 'item_delta', itemId: 'a', deltaContent }) as const,
      ),
    ],
    { runId, turnId: runId, sessionId },
  );
  await log.append(runId, said.slice(0, 3));
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read: EventLog['read'] = async (...wanted) => {
    const events = await log.read(...wanted);
    asked.resolve();
    await held.promise;
    return events;
  };
  const follow: EventLog['follow'] = (...wanted) => log.follow(...wanted);
  const append: EventLog['append'] = async (...added) => log.append(...added);
  const unsettled: EventLog['unsettled'] = async () => log.unsettled();
  const slow: EventLog = { ...log, read, follow, append, unsettled };
  const followed = replicaOf({ log: slow, store });
  const opening = followed.open();
  await asked.promise;
  followed.posted({ ...postedState, runId });
  await log.append(runId, said.slice(3, 4));
  await expect.poll(() => followed.subscribers.progress(runId)?.lastSeq).toBe(3);
  held.resolve();
  await opening;
  await log.append(runId, said.slice(4));
  await expect.poll(() => followed.subscribers.progress(runId)?.lastSeq).toBe(4);
  expect(followed.subscribers.openRuns).toMatchObject([{ outputItems: [{ content: '1 2 3 ' }] }]);
  await followed.close();
});
