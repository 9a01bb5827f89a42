import type { ServerMessage, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { type EventLog, openMemoryStorage, type ResponseStore } from '@liminal/storage';
import { expect, test } from 'vitest';
import type { Posting } from '../../src/cluster/postings.ts';
import { Replica } from '../../src/cluster/replica.ts';
import type { Outgoing } from '../../src/api.ts';

const run: StreamEvent[] = runOf([
  { type: 'response_start', modelId: 'model-1', providerId: 'scripted' },
  { type: 'response_done', status: 'completed' },
]);
const [{ sessionId, runId }] = run as [StreamEvent];
const time = '2026-01-01T00:00:00.000Z';
const posting: Posting = {
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

/** The same run under other ids. */
const runNamed = (id: string): StreamEvent[] =>
  runOf(
    run.map(({ payload }) => payload),
    { runId: id, turnId: id, sessionId },
  );

async function keep(store: ResponseStore, events: readonly StreamEvent[]): Promise<void> {
  const response = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (response) await store.saveResponse(response);
}

function replicaOf(storage: { log: EventLog; store: ResponseStore }): Replica {
  const onTrouble = (error: unknown) => expect.fail(String(error));
  return new Replica({ sessionId, storage, posting, now: Date.now, onTrouble });
}

test('a run that comes into history in the moment in which somebody begins to watch is history, in its place', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  const read: EventLog['read'] = async (...args) => {
    const events = await log.read(...args);
    await keep(store, run);
    await log.settle(runId);
    replica.settled(runId);
    return events;
  };
  const unsettled: EventLog['unsettled'] = async () => log.unsettled();
  const slow: EventLog = { ...log, read, unsettled };
  const replica: Replica = replicaOf({ log: slow, store });
  await replica.open();
  expect(replica.view.openRuns).toEqual([]);
  expect((await replica.history.page()).turns).toMatchObject([{ turnId: run[0]?.turnId }]);
  await replica.close();
});

test('INV-7: whoever has got as far as the next run is brought the one that came and went before it unseen', async () => {
  const { log, store } = openMemoryStorage();
  await keep(store, runNamed('1'));
  const replica = replicaOf({ log, store });
  await replica.open();
  const told: ServerMessage[] = [];
  const send = ({ message }: Outgoing) => told.push(message) > 0;
  const subscription = replica.view.subscribe({ deltas: true }, { send });
  const turnIds = () => told.flatMap((one) => (one.type === 'session:history' ? [one.turns] : []));
  await expect.poll(() => turnIds().at(-1)).toMatchObject([{ turnId: '1' }]);

  await keep(store, runNamed('2'));
  await log.append('3', runNamed('3'));
  replica.posted({ ...posting, runId: '3' });
  await expect.poll(() => told.at(-1)).toMatchObject({ type: 'session:turn', cursor: '3:1' });
  replica.settled('2');
  await expect
    .poll(() => turnIds().at(-1))
    .toMatchObject([{ turnId: '1' }, { turnId: '2' }, { turnId: '3' }]);
  subscription.close();
  await replica.close();
});

test('a run that is open is shown where it began, before a later one that is over', async () => {
  const { log, store } = openMemoryStorage();
  const begun = runNamed('1').slice(0, 1);
  await log.append('1', begun);
  await keep(store, begun);
  await keep(store, runNamed('2'));
  const replica = replicaOf({ log, store });
  await replica.open();
  const { turns, cursor } = await replica.history.page();
  expect(turns).toMatchObject([
    { turnId: '1', status: 'in_progress' },
    { turnId: '2', status: 'complete' },
  ]);
  expect(cursor).toBe('2:1');
  await replica.close();
});
