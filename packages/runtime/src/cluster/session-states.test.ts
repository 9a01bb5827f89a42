import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { Ownership } from './ownership.ts';
import { postedStatePrefix } from './posted-state.ts';
import { SessionStates } from './session-states.ts';
import { sessionRecord } from './testing/session-record.ts';

test.each(['{', '7', '{"infx": {}}'])(
  'SAFE: a session whose posted state is damaged is shown as stored: %s',
  async (posting) => {
    const { store, blobs, coordination, close } = openSharedMemoryStorage();
    const { board, leases } = coordination;
    const silent = { onLost: () => {}, onTrouble: () => {} };
    const ownership = new Ownership({
      leases,
      store,
      instanceId: 'other',
      ttlMs: 60_000,
      ...silent,
    });
    await store.saveSession(sessionRecord);
    await ownership.take('one');
    await board.post(postedStatePrefix + 'one', posting, 60_000);
    const states = new SessionStates({ board, store, blobs, ownership });
    expect(await states.summaries(['one'])).toEqual(new Map());
    expect((await states.of('one')).info.session).toMatchObject({ title: 'Title' });
    await ownership.close();
    await close();
  },
);
