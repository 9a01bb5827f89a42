import { setImmediate as everythingAtHand } from 'node:timers/promises';
import type { SessionState } from '@liminal/protocol';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { FollowedSessions } from '../../src/cluster/followed-sessions.ts';
import { type PostedState, postSession } from '../../src/cluster/posted-state.ts';

const time = '2026-01-01T00:00:00.000Z';

const postedState = (state: SessionState): PostedState => ({
  info: {
    session: {
      sessionId: 'session-1',
      cliType: 'scripted',
      projectId: '/',
      projectDir: '/',
      title: '',
      createdAt: time,
      updatedAt: time,
      active: true,
      isAlive: true,
      state,
      source: 'liminal',
    },
    queue: [],
    configOptions: [],
    commands: [],
  },
  fence: 1,
});

test('a posting during the read of a session’s state, for its first reader or after a gap, is not undone', async () => {
  const storage = openSharedMemoryStorage();
  const { board } = storage.coordination;
  let read = Promise.withResolvers<void>();
  let isHeld = false;
  const held: (() => void)[] = [];
  const of = async (): Promise<PostedState> => {
    const found = postedState('running');
    if (isHeld) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push(resolve);
      read.resolve();
      await promise;
    }
    isHeld = true;
    return found;
  };
  const gaps: (() => void)[] = [];
  const sessions = new FollowedSessions({
    storage,
    board: {
      post: async (...posting) => board.post(...posting),
      read: async (names) => board.read(names),
      watch: async (prefix, listener) => {
        gaps.push(listener.onGap);
        return board.watch(prefix, listener);
      },
    },
    sessionStates: { of },
    now: Date.now,
    onTrouble: (error) => expect.fail(String(error)),
  });
  await sessions.open();
  const using = sessions.use('session-1');
  await read.promise;
  await postSession(board, postedState('idle'));
  held.pop()?.();
  const { followed, done } = await using;
  expect(followed.info.session.state).toBe('idle');

  read = Promise.withResolvers();
  for (const onGap of gaps) onGap();
  await read.promise;
  await postSession(board, postedState('failed'));
  held.pop()?.();
  await everythingAtHand();
  expect(followed.info.session.state).toBe('failed');
  done();
  await sessions.close();
  await storage.close();
});
