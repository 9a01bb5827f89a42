import type { StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { type EventLog } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { recoverSession } from './recovery.ts';

const run = runOf([{ type: 'response_start', modelId: 'model-1', providerId: 'scripted' }]);
const [{ sessionId, runId }] = run as [StreamEvent];
const now = () => '2026-01-01T00:00:00.000Z';

test('a server that pauses while it takes a session over leaves the next owner’s run alone', async () => {
  const { log, store } = openMemoryStorage();
  const unsettled: EventLog['unsettled'] = async () => {
    const before = await log.unsettled();
    // The server pauses here, and loses its lease.
    await log.append(runId, run);
    const response = toResponse(run.reduce(foldResponse, emptyResponse()));
    if (response) await store.saveResponse(response);
    return before;
  };
  const slow: EventLog = {
    append: async (...args) => log.append(...args),
    read: async (...args) => log.read(...args),
    follow: (...args) => log.follow(...args),
    unsettled,
    settle: async (...args) => log.settle(...args),
    close: async () => log.close(),
  };
  await recoverSession({ log: slow, store }, sessionId, 1, now);
  expect(await log.unsettled()).toMatchObject([{ runId, ended: false }]);
  expect(await store.getResponse(runId)).toMatchObject({ status: 'in_progress' });
});
