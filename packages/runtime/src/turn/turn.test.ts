import type { EventLog } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { BlobKeeper } from '../blobs/index.ts';
import { defaultSettings } from '../settings.ts';
import { DeltaPace } from './delta-pace.ts';
import { Supervisor } from './supervisor.ts';
import { Turn } from './turn.ts';

function begin(append: EventLog['append']) {
  const { log, blobs } = openMemoryStorage();
  const supervisor = new Supervisor((error) => {
    throw error;
  });
  const turn = new Turn(
    {
      sessionId: 's',
      cliType: 'demo',
      log: Object.assign(Object.create(log) as EventLog, { append }),
      settings: defaultSettings,
      pace: new DeltaPace(defaultSettings.cadenceMs),
      iso: () => '2026-01-01T00:00:00.000Z',
      supervisor,
      blobKeeper: new BlobKeeper(blobs, 's'),
    },
    { turnId: 't', before: undefined, waitsForPerson: () => false, owns: async () => true },
  );
  const add = (payload: Parameters<Turn['add']>[0]['payload']) =>
    turn.add({ turnId: 't', timestamp: '2026-01-01T00:00:00.000Z', payload });
  add({ type: 'response_start', modelId: 'm', providerId: 'p' });
  return { turn, add };
}

test('INV-1: if the server stops before the log has a steered message, steering rejects with SHUTTING_DOWN', async () => {
  const { turn, add } = begin(() => new Promise(() => {}));
  const said = turn.steer('t/word', async () => {
    add({ type: 'item_start', itemId: 't/word', itemType: 'message' });
  });
  turn.abandon();
  await expect(said).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});

test('steering resolves when the log has the message, or when the turn has ended without it', async () => {
  const stored = begin(async () => {});
  await stored.turn.steer('t/word', async () => {
    stored.add({ type: 'item_start', itemId: 't/word', itemType: 'message' });
  });
  const ended = begin(async () => {});
  const said = ended.turn.steer('t/word', async () => {});
  ended.add({ type: 'response_done', status: 'completed' });
  await expect(said).resolves.toBeUndefined();
  stored.turn.abandon();
});
