import { LiminalError } from '@liminal/protocol';
import type { Board } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { FollowedSessions } from './followed-sessions.ts';
import { type PostedState, postSession } from './posted-state.ts';
import { postSettled } from './projector.ts';
import { useFakeDelays } from './testing/fake-delays.ts';
import { sessionInfo } from './testing/session-info.ts';

beforeEach(useFakeDelays);

/** The state of a session, as posted under a lease with this token. */
const postedState = (sessionId: string, title: string, fence?: number): PostedState => ({
  info: { ...sessionInfo, session: { ...sessionInfo.session, sessionId, title } },
  ...(fence !== undefined && { fence }),
});

async function openSessions() {
  const storage = openSharedMemoryStorage();
  const { board } = storage.coordination;
  const troubles: unknown[] = [];
  const emitted: string[] = [];
  /** The title with which each session's state is read, or the error of reading the state. */
  const titles = new Map<string, string | Error>();
  const reads: string[] = [];
  const gaps = new Map<string, () => void>();
  const of = async (sessionId: string): Promise<PostedState> => {
    reads.push(sessionId);
    const title = titles.get(sessionId) ?? 'stored';
    if (title instanceof Error) throw title;
    return postedState(sessionId, title);
  };
  const watch: Board['watch'] = async (prefix, listener) => {
    gaps.set(prefix, () => listener.onGap());
    return board.watch(prefix, listener);
  };
  const sessions = new FollowedSessions({
    storage,
    board: {
      post: async (...posting) => board.post(...posting),
      read: async (names) => board.read(names),
      watch,
    },
    sessionStates: { of },
    now: Date.now,
    onTrouble: (error) => troubles.push(error),
  });
  sessions.on('posted', ({ info }) => emitted.push(`posted ${info.session.title}`));
  sessions.on('deleted', (sessionId) => emitted.push(`deleted ${sessionId}`));
  sessions.on('gap', () => emitted.push('gap'));
  await sessions.open();
  const titleOf = async (sessionId: string) => {
    const { followed, done } = await sessions.use(sessionId);
    done();
    return followed.info.session.title;
  };
  const gap = async () => {
    gaps.get('session:')?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { sessions, storage, board, troubles, emitted, titles, reads, gaps, gap, titleOf };
}

test('the readers of a session share one followed session until the last reader has left', async () => {
  const { sessions, reads } = await openSessions();
  const [first, second] = await Promise.all([sessions.use('one'), sessions.use('one')]);
  expect(second.followed).toBe(first.followed);
  const close = vi.spyOn(first.followed, 'close');
  expect(sessions.subscriberCounts).toEqual([{ all: 0, slow: 0 }]);
  first.done();
  const third = await sessions.use('one');
  expect(third.followed).toBe(first.followed);
  second.done();
  third.done();
  await vi.advanceTimersByTimeAsync(0);
  expect(close).toHaveBeenCalledTimes(1);
  expect(sessions.subscriberCounts).toEqual([]);
  expect(reads).toEqual(['one', 'one']);
  const anew = await sessions.use('one');
  expect(anew.followed).not.toBe(first.followed);
  expect(reads).toHaveLength(4);
});

test('a session that was not found is looked up again at its next use', async () => {
  const { sessions, titles, titleOf } = await openSessions();
  const missing = new LiminalError('SESSION_NOT_FOUND', 'There is no session one.');
  titles.set('one', missing);
  await expect(sessions.use('one')).rejects.toBe(missing);
  expect(sessions.subscriberCounts).toEqual([]);
  titles.set('one', 'there');
  expect(await titleOf('one')).toBe('there');
});

test('a session that cannot be opened is closed, and not remembered', async () => {
  const { sessions, storage, titleOf } = await openSessions();
  vi.spyOn(storage.log, 'unsettled').mockRejectedValueOnce(new Error('The log is away.'));
  await expect(sessions.use('one')).rejects.toThrow('The log is away.');
  expect(sessions.subscriberCounts).toEqual([]);
  expect(await titleOf('one')).toBe('stored');
});

test('a posting of a session’s owner is sent to the session’s readers, and is emitted for every session', async () => {
  const { sessions, board, emitted } = await openSessions();
  const { followed } = await sessions.use('one');
  await postSession(board, postedState('one', 'posted', 1));
  await postSession(board, postedState('two', 'other', 1));
  expect(followed.info.session.title).toBe('posted');
  expect(emitted).toEqual(['posted posted', 'posted other']);
});

test('a state posted by a former owner is ignored, but a further state posted by the same owner is not', async () => {
  const { board, emitted } = await openSessions();
  await postSession(board, postedState('one', 'second', 2));
  await postSession(board, postedState('one', 'first', 1));
  await postSession(board, postedState('two', 'two', 1));
  await postSession(board, postedState('one', 'second again', 2));
  await postSession(board, postedState('one', 'as stored'));
  await postSession(board, postedState('one', 'third', 3));
  const titles = ['second', 'two', 'second again', 'as stored', 'third'];
  expect(emitted).toEqual(titles.map((title) => `posted ${title}`));
});

test('the fences of ten thousand sessions are remembered: of the sessions that were posted last', async () => {
  const { board, emitted } = await openSessions();
  await postSession(board, postedState('one', 'one', 2));
  await postSession(board, postedState('two', 'two', 2));
  await postSession(board, postedState('one', 'one again', 2));
  for (let at = 0; at < 9_999; at += 1) await postSession(board, postedState(`s${at}`, '', 1));
  emitted.length = 0;
  await postSession(board, postedState('one', 'former', 1));
  expect(emitted).toEqual([]);
  await postSession(board, postedState('two', 'former', 1));
  expect(emitted).toEqual(['posted former']);
}, 20_000);

test('a damaged posting is reported, but the empty posting of a deleted session is not', async () => {
  const { board, emitted, troubles } = await openSessions();
  await board.post('session:one', '{', 1_000);
  expect(troubles).toHaveLength(1);
  await board.post('session:one', '', 1_000);
  await board.post('report:one', '{"code":"A","message":"B"}', 1_000);
  await postSettled(board, { runId: 'run', sessionId: 'one' });
  expect(troubles).toHaveLength(1);
  expect(emitted).toEqual([]);
});

test('a posted problem is reported to the session’s subscribers, and a posted settled run is passed to the session', async () => {
  const { sessions, board } = await openSessions();
  const { followed } = await sessions.use('one');
  const other = await sessions.use('two');
  const report = vi.spyOn(followed.subscribers, 'report');
  const otherReport = vi.spyOn(other.followed.subscribers, 'report');
  const settled = vi.spyOn(followed, 'settled');
  await board.post('report:one', JSON.stringify({ code: 'A', message: 'B' }), 1_000);
  expect(report).toHaveBeenCalledWith('A', 'B');
  expect(otherReport).not.toHaveBeenCalled();
  await postSettled(board, { runId: 'run', sessionId: 'one' });
  expect(settled).toHaveBeenCalledWith('run');
});

test('a deleted session ends for its subscribers, and its next subscriber looks it up again', async () => {
  const { sessions, board, emitted, reads } = await openSessions();
  const { followed, done } = await sessions.use('one');
  const deleted = vi.spyOn(followed.subscribers, 'deleted');
  const close = vi.spyOn(followed, 'close');
  await board.post('deleted:one', '', 1_000);
  await board.post('deleted:two', '', 1_000);
  expect(emitted).toEqual(['deleted one', 'deleted two']);
  expect(deleted).toHaveBeenCalledOnce();
  expect(close).toHaveBeenCalledOnce();
  expect(sessions.subscriberCounts).toEqual([]);
  const before = reads.length;
  const anew = await sessions.use('one');
  expect(anew.followed).not.toBe(followed);
  expect(reads.length).toBe(before + 2);
  // The subscriber of the deleted session leaves; that must not affect the new session.
  done();
  await vi.advanceTimersByTimeAsync(0);
  expect((await sessions.use('one')).followed).toBe(anew.followed);
  expect(sessions.subscriberCounts).toHaveLength(1);
});

test('INV-7: after a gap in the postings of states, every session is read again; a gap in other postings has no effect', async () => {
  const { sessions, titles, gaps, gap, emitted, reads } = await openSessions();
  const { followed } = await sessions.use('one');
  await sessions.use('two');
  const mended = vi.spyOn(followed, 'refresh');
  const before = reads.length;
  for (const prefix of ['settled:', 'report:', 'deleted:']) gaps.get(prefix)?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(emitted).toEqual([]);
  expect(reads).toHaveLength(before);
  titles.set('one', 'newer');
  await gap();
  expect(emitted).toEqual(['gap']);
  expect(reads.slice(before)).toEqual(['one', 'two']);
  expect(followed.info.session.title).toBe('newer');
  expect(mended).toHaveBeenCalledOnce();
});

test('INV-7: sessions that cannot be read after a gap are read again every second, and each failure is reported once', async () => {
  const { sessions, titles, gap, reads, troubles } = await openSessions();
  for (const sessionId of ['one', 'two', 'three']) await sessions.use(sessionId);
  const error = new Error('The database is away.');
  titles.set('one', error).set('three', error);
  const before = reads.length;
  await gap();
  expect(reads.slice(before)).toEqual(['one', 'two', 'three']);
  expect(troubles).toEqual([error]);
  titles.set('one', 'newer');
  await vi.advanceTimersByTimeAsync(999);
  expect(reads.slice(before)).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(reads.slice(before + 3)).toEqual(['one', 'three']);
  expect(troubles).toEqual([error, error]);
  titles.set('three', 'newer');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads.slice(before + 5)).toEqual(['three']);
});

test('a session that could not be read after a gap is not read again once its last user has left', async () => {
  const { sessions, titles, gap, reads } = await openSessions();
  const { done } = await sessions.use('one');
  titles.set('one', new Error('The database is away.'));
  await gap();
  done();
  await vi.advanceTimersByTimeAsync(0);
  const before = reads.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads).toHaveLength(before);
});

test('a session that no longer exists after a gap is deleted for its subscribers, and the other sessions are read', async () => {
  const { sessions, titles, gap, emitted, troubles } = await openSessions();
  await sessions.use('one');
  const { followed } = await sessions.use('two');
  titles.set('one', new LiminalError('SESSION_NOT_FOUND', 'There is no session one.'));
  titles.set('two', 'newer');
  await gap();
  expect(emitted).toEqual(['gap', 'deleted one']);
  expect(troubles).toEqual([]);
  expect(followed.info.session.title).toBe('newer');
  expect(sessions.subscriberCounts).toHaveLength(1);
});

test('`read` resolves after the running runs of the given sessions', async () => {
  const { sessions } = await openSessions();
  const one = await sessions.use('one');
  const two = await sessions.use('two');
  const run = Promise.withResolvers<void>();
  vi.spyOn(one.followed, 'read').mockReturnValue(run.promise);
  const other = vi.spyOn(two.followed, 'read');
  let isRead = false;
  const reading = sessions.read(['one', 'three']).then(() => void (isRead = true));
  await vi.advanceTimersByTimeAsync(0);
  expect(isRead).toBe(false);
  run.resolve();
  await reading;
  expect(other).not.toHaveBeenCalled();
});

test('closing closes every session, and ends watching the board and retrying failed reads', async () => {
  const { sessions, board, titles, gap, reads, emitted } = await openSessions();
  const { followed } = await sessions.use('one');
  const close = vi.spyOn(followed, 'close');
  titles.set('one', new Error('The database is away.'));
  await gap();
  const before = reads.length;
  await sessions.close();
  expect(close).toHaveBeenCalledOnce();
  await postSession(board, postedState('one', 'late', 1));
  await board.post('deleted:one', '', 1_000);
  await board.post('report:one', '{', 1_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(emitted).toEqual(['gap']);
  expect(reads).toHaveLength(before);
});
