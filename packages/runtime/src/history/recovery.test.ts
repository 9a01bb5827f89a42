import type { StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { type EventLog } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { recover, recoverSession } from './recovery.ts';

const run = runOf([{ type: 'response_start', modelId: 'model-1', providerId: 'scripted' }]);
const [{ sessionId, runId }] = run as [StreamEvent];
const now = () => '2026-01-01T00:00:00.000Z';

test('if a server is suspended while it takes a session over, it does not change the next owner’s run', async () => {
  const { log, store } = openMemoryStorage();
  const unsettled: EventLog['unsettled'] = async () => {
    const before = await log.unsettled();
    // At this point the server is suspended, and loses its lease.
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

test.each([
  ['an ended turn before it', ['ended', 'waiting']],
  ['a running turn after it', ['waiting', 'talking']],
])('a turn that waits for a user is resumed even if its session has %s', async (_, runs) => {
  for (const all of [true, false]) {
    const { log, store } = openMemoryStorage();
    const createdAt = now();
    const about = { cliType: 'scripted', projectId: 'p', projectDir: '/p', title: 'T' };
    const flags = { failed: false, active: true, config: {}, queue: [], imported: false, fence: 0 };
    await store.saveSession({ sessionId, ...about, ...flags, createdAt, updatedAt: createdAt });
    const start = { type: 'response_start', modelId: 'm', providerId: 'scripted' } as const;
    const more = {
      ended: { type: 'response_done', status: 'completed' },
      talking: { type: 'item_start', itemId: 'm', itemType: 'message' },
      waiting: { type: 'item_start', itemId: 'q', itemType: 'approval', approvalId: 'q' },
    } as const;
    for (const [at, kind] of runs.entries()) {
      const ids = { runId: `run-${at}`, turnId: `turn-${at}` };
      await log.append(ids.runId, runOf([start, more[kind as keyof typeof more]], ids));
    }
    if (all) await recover({ log, store }, now);
    else await recoverSession({ log, store }, sessionId, 1, now);
    expect(await store.getSession(sessionId)).toMatchObject({ awaits: true });
  }
});
