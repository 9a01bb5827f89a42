import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import type { EventLog } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { readRun } from './read-run.ts';

const run = runOf([
  { type: 'response_start', modelId: 'm', providerId: 'scripted' },
  { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
  ...['1 ', '2 ', '3 ', '4 ', '5 '].map(
    (deltaContent) => ({ type: 'item_delta', itemId: 'a', deltaContent }) as const,
  ),
]);
const [{ runId }] = run as [(typeof run)[number]];
const whole = run.reduce(foldResponse, emptyResponse());

test.each([
  ['its first events', [5, 6]],
  ['some from its middle during the read', [0, 1, 2, 5, 6]],
  ['all', []],
])(
  'INV-6 a run is complete even if the log has dropped %s, because the store has these events',
  async (_, left) => {
    const { log, store } = openMemoryStorage();
    const read: EventLog['read'] = async () => run.filter(({ seq }) => left.includes(seq));
    const upTo = left.length === 0 ? run.length : 5;
    const stored = toResponse(run.slice(0, upTo).reduce(foldResponse, emptyResponse()));
    if (stored) await store.saveResponse(stored);
    const found = await readRun({ log: { ...log, read }, store }, runId);
    expect(toResponse(found)).toEqual(toResponse(whole));
  },
);
