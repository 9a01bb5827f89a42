import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, onTestFinished, test } from 'vitest';
import { Ownership } from './ownership.ts';
import { postedStatePrefix, postSession } from './posted-state.ts';
import { SessionStates } from './session-states.ts';
import { sessionInfo } from './testing/session-info.ts';
import { sessionRecord } from './testing/session-record.ts';

test.each(['{', '7', '{"infx": {}}'])(
  'SAFE: if a session’s posted state is damaged, the stored state is shown: %s',
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

/** Two servers; the first server owns the sessions. */
async function openStates() {
  const storage = openSharedMemoryStorage();
  const { store, blobs } = storage;
  const { board, leases } = storage.coordination;
  const silent = { onLost: () => {}, onTrouble: () => {} };
  const ownership = new Ownership({ leases, store, instanceId: 'a', ttlMs: 60_000, ...silent });
  onTestFinished(async () => ownership.close());
  await store.saveSession(sessionRecord);
  const states = new SessionStates({ board, store, blobs, ownership });
  const post = async (title: string, fence: number | undefined, sessionId = 'one') => {
    const session = { ...sessionInfo.session, sessionId, title };
    await postSession(board, { info: { ...sessionInfo, session }, ...(fence && { fence }) });
  };
  return { states, ownership, post, store };
}

test('the state of an owned session is the state that its owner has posted', async () => {
  const { states, ownership, post } = await openStates();
  await ownership.take('one');
  await post('Posted', 1);
  expect(await states.of('one')).toMatchObject({
    info: { session: { title: 'Posted' } },
    fence: 1,
  });
  await post('Other', 1, 'two');
  expect([...(await states.summaries(['one', 'two']))]).toEqual([
    ['one', expect.objectContaining({ sessionId: 'one', title: 'Posted' })],
  ]);
});

test.each([
  ['no owner', false, 1],
  ['an owner that has posted nothing yet', true, undefined],
])('the stored state is shown for a session with %s', async (_, isOwned, fence) => {
  const { states, ownership, post } = await openStates();
  if (isOwned) await ownership.take('one');
  await post('Posted', fence);
  expect((await states.of('one')).info.session.title).toBe('Title');
  expect(await states.summaries(['one'])).toEqual(new Map());
});

test('for a session that was never posted, the stored state is shown, without settings', async () => {
  const { states, ownership } = await openStates();
  await ownership.take('one');
  expect(await states.of('one')).toEqual({
    info: {
      session: expect.objectContaining({ sessionId: 'one', title: 'Title', isAlive: false }),
      queue: [],
      configOptions: [],
      commands: [],
    },
  });
});

test('a stored session has the settings that its agent last reported, marked as last known', async () => {
  const { states, store } = await openStates();
  const lastKnown = { usage: { inputTokens: 7, outputTokens: 1 } };
  await store.saveSession({ ...sessionRecord, lastKnown });
  expect((await states.stored('one')).info).toMatchObject({ ...lastKnown, lastKnown: true });
});

test('a session that has no owner and is not stored is not found', async () => {
  const { states } = await openStates();
  await expect(states.of('none')).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    message: "There is no session none. If it is in an agent's own store, load it first.",
  });
});
