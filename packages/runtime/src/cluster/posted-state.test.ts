import { runOf } from '@liminal/protocol/testing';
import { emptyResponse, foldResponse, type SessionInfo, toResponse } from '@liminal/protocol';
import type { Board } from '@liminal/storage';
import { beforeEach, expect, test, vi } from 'vitest';
import { RemoteSubscribers, parsePostedState, readPostedState, Report } from './posted-state.ts';
import { useFakeDelays } from './testing/fake-delays.ts';
import { sessionInfo } from './testing/session-info.ts';

beforeEach(useFakeDelays);

/** A session whose postings are recorded, each with its time and its lifetime, in ms. */
function openPosted() {
  const began = Date.now();
  const posted: { at: number; name: string; text: string; ttlMs: number }[] = [];
  const troubles: unknown[] = [];
  const session = { sessionId: 'one', turnId: undefined as string | undefined, title: 'Title' };
  /** How many of the next postings fail. */
  const faults = { postings: 0 };
  const owner = { fence: 7 as number | undefined };
  const info = (): SessionInfo => ({
    ...sessionInfo,
    session: { ...sessionInfo.session, sessionId: 'one', title: session.title },
  });
  const post: Board['post'] = async (name, text, ttlMs) => {
    posted.push({ at: Date.now() - began, name, text, ttlMs });
    faults.postings -= 1;
    if (faults.postings >= 0) throw new Error('Redis is away.');
  };
  const reader = new RemoteSubscribers(
    { post } as Board,
    {
      sessionId: 'one',
      get turnId() {
        return session.turnId;
      },
      info,
    },
    () => owner.fence,
    (error) => troubles.push(error),
  );
  const times = () => posted.map(({ at }) => at);
  const last = () => JSON.parse(posted.at(-1)?.text ?? '');
  return { reader, posted, times, last, session, faults, owner, troubles, info };
}

test('a change is posted at once, with the fence, and expires after a day', async () => {
  const { reader, posted, last, info } = openPosted();
  reader.infoChanged();
  expect(posted).toEqual([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(posted).toMatchObject([{ at: 0, name: 'session:one', ttlMs: 86_400_000 }]);
  expect(last()).toEqual({ info: info(), fence: 7 });
});

test('changes within 33 ms are posted once, with the last state', async () => {
  const { reader, times, last, session } = openPosted();
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(0);
  for (const title of ['a', 'b', 'c']) {
    session.title = title;
    reader.infoChanged();
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(times()).toEqual([0, 33]);
  expect(last().info.session.title).toBe('c');
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(0);
  expect(times()).toHaveLength(3);
});

test('a run that begins or ends is posted at once, and this posting replaces the posting that was due', async () => {
  const { reader, posted, last, session } = openPosted();
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(0);
  reader.infoChanged();
  session.turnId = 'run';
  reader.infoChanged();
  expect(posted).toHaveLength(2);
  expect(last()).toMatchObject({ runId: 'run' });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toHaveLength(2);
  session.turnId = undefined;
  reader.infoChanged();
  expect(posted).toHaveLength(3);
  expect(last()).not.toHaveProperty('runId');
});

test('a server that no longer owns the session posts nothing', async () => {
  const { reader, posted, owner } = openPosted();
  owner.fence = undefined;
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toEqual([]);
});

test('a failed posting is reported, and retried every half second until it succeeds', async () => {
  const { reader, times, faults, troubles } = openPosted();
  faults.postings = 2;
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(times()).toEqual([0, 500, 1_000]);
  expect(troubles).toEqual([new Error('Redis is away.'), new Error('Redis is away.')]);
});

test('a closed session does not retry a failed posting', async () => {
  const { reader, times, faults } = openPosted();
  faults.postings = 1;
  reader.infoChanged();
  reader.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(times()).toEqual([0]);
});

test('closing posts a change that is due, and posts nothing if no change is due', async () => {
  const { reader, posted, last, session } = openPosted();
  reader.infoChanged();
  await vi.advanceTimersByTimeAsync(0);
  session.title = 'Last';
  reader.infoChanged();
  reader.close();
  expect(posted).toHaveLength(2);
  expect(last().info.session.title).toBe('Last');
  reader.close();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toHaveLength(2);
});

test('when a session is deleted, its posted state is removed, all servers are notified, and nothing more is posted', async () => {
  const { reader, posted, session } = openPosted();
  reader.infoChanged();
  reader.deleted();
  await vi.advanceTimersByTimeAsync(0);
  const gone = [
    { at: 0, name: 'session:one', text: '', ttlMs: 60_000 },
    { at: 0, name: 'deleted:one', text: '', ttlMs: 60_000 },
  ];
  expect(posted).toEqual(gone);
  session.turnId = 'run';
  reader.infoChanged();
  reader.close();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toEqual(gone);
});

test('a deletion that cannot be posted is reported', async () => {
  const { reader, faults, troubles } = openPosted();
  faults.postings = 1;
  reader.deleted();
  await vi.advanceTimersByTimeAsync(0);
  expect(troubles).toEqual([new Error('Redis is away.')]);
});

test('a problem is posted and expires after a second; if posting fails, the failure is reported', async () => {
  const { reader, posted, faults, troubles } = openPosted();
  reader.report('AGENT_UNAVAILABLE', 'It does not start.');
  const text = JSON.stringify({ code: 'AGENT_UNAVAILABLE', message: 'It does not start.' });
  expect(posted).toEqual([{ at: 0, name: 'report:one', text, ttlMs: 1_000 }]);
  expect(Report.parse(JSON.parse(text))).toEqual(JSON.parse(text));
  faults.postings = 1;
  reader.report('AGENT_UNAVAILABLE', 'It does not start.');
  await vi.advanceTimersByTimeAsync(0);
  expect(troubles).toEqual([new Error('Redis is away.')]);
});

const run = toResponse(
  runOf([{ type: 'response_start', modelId: 'm', providerId: 'p' }]).reduce(
    foldResponse,
    emptyResponse(),
  ),
);

test('a posting reports each run that history has, and is retried until it succeeds', async () => {
  if (!run) throw new Error('The run has not begun.');
  const { reader, posted, faults, troubles } = openPosted();
  faults.postings = 1;
  reader.historyGrew([run, { ...run, id: 'other' }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(posted.map(({ at, name, text }) => [at, name, text])).toEqual([
    [0, `settled:${run.id}`, run.sessionId],
    [0, 'settled:other', run.sessionId],
    [500, `settled:${run.id}`, run.sessionId],
  ]);
  expect(troubles).toEqual([new Error('Redis is away.')]);
});

test('a session that is closed tries once more to post which runs history has', async () => {
  if (!run) throw new Error('The run has not begun.');
  const { reader, times, faults } = openPosted();
  faults.postings = 100;
  reader.historyGrew([run]);
  await vi.advanceTimersByTimeAsync(600);
  reader.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(times()).toEqual([0, 500, 600]);
});

test('events of the session post nothing, because other servers read them from the log', async () => {
  const { reader, posted } = openPosted();
  reader.apply();
  reader.forget();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toEqual([]);
});

test('a posted state is parsed as it was written; the posting of a deleted session is parsed as undefined', () => {
  const state = { info: sessionInfo, runId: 'run', fence: 1 };
  expect(parsePostedState(JSON.stringify(state))).toEqual(state);
  expect(readPostedState(JSON.stringify({ info: sessionInfo }))).toEqual({ info: sessionInfo });
  expect(parsePostedState('')).toBeUndefined();
  expect(readPostedState(undefined)).toBeUndefined();
  expect(() => parsePostedState('{')).toThrow(SyntaxError);
  expect(readPostedState('{')).toBeUndefined();
});
