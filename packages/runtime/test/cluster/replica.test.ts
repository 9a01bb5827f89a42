import type { StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { type EventLog, openMemoryStorage } from '@liminal/storage';
import { expect, test } from 'vitest';
import type { Posting } from '../../src/cluster/postings.ts';
import { Replica } from '../../src/cluster/replica.ts';

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

test('a run that comes into history in the moment in which somebody begins to watch is history, in its place', async () => {
  const { log, store } = openMemoryStorage();
  await log.append(runId, run);
  const read: EventLog['read'] = async (...args) => {
    const events = await log.read(...args);
    const response = toResponse(run.reduce(foldResponse, emptyResponse()));
    if (response) await store.saveResponse(response);
    await log.settle(runId);
    replica.settled(runId);
    return events;
  };
  const unsettled: EventLog['unsettled'] = async () => log.unsettled();
  const slow: EventLog = { ...log, read, unsettled };
  const replica: Replica = new Replica({
    sessionId,
    storage: { log: slow, store },
    posting,
    now: Date.now,
    onTrouble: (error) => expect.fail(String(error)),
  });
  await replica.open();
  expect(replica.view.openRuns).toEqual([]);
  expect((await replica.history.page()).turns).toMatchObject([{ turnId: run[0]?.turnId }]);
  await replica.close();
});
