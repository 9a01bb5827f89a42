import { emptyResponse, foldResponse, type Response, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { postSettled } from './projector.ts';
import { SettledRuns } from './settled-runs.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

/** The time between two checks of history, in ms. */
const lookMs = 2_000;
const events = runOf([
  { type: 'response_start', modelId: 'm', providerId: 'p' },
  { type: 'response_done', status: 'completed' },
]);
const run = upTo(events.length);

function upTo(count: number): Response {
  const response = toResponse(events.slice(0, count).reduce(foldResponse, emptyResponse()));
  if (!response) throw new Error('The run has not begun.');
  return response;
}

async function openSettled() {
  const { log, store, coordination } = openSharedMemoryStorage();
  const { board } = coordination;
  const ends: { runId: string; sessionId: string }[] = [];
  const cluster = {
    notifyEndInHistory: async (end: { runId: string; sessionId: string }) => void ends.push(end),
    claimEndCount: async () => true,
  };
  const settled = new SettledRuns({ log, store, cluster });
  await settled.open(board);
  /** Whether the wait for the run is over. */
  const wait = (signal = new AbortController().signal) => {
    const state = { isOver: false };
    void settled.wait(run, signal).then(() => (state.isOver = true));
    return state;
  };
  return { settled, wait, log, store, board, ends };
}

test('a wait ends when a posting reports that history has the run', async () => {
  const { wait, board } = await openSettled();
  const state = wait();
  await postSettled(board, { runId: 'other', sessionId: run.sessionId });
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(false);
  await postSettled(board, { runId: run.id, sessionId: run.sessionId });
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(true);
});

test('a run whose posting was missed is found by checking history', async () => {
  const { wait, log, store, ends } = await openSettled();
  await log.append(run.id, events);
  const state = wait();
  await vi.advanceTimersByTimeAsync(lookMs);
  expect(state.isOver).toBe(false);
  await store.saveResponse(run);
  await vi.advanceTimersByTimeAsync(lookMs - 1);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(state.isOver).toBe(true);
  expect(ends).toEqual([]);
});

test('if history has only a part of a run, the wait for the run continues', async () => {
  const { wait, log, store } = await openSettled();
  await log.append(run.id, events);
  await store.saveResponse(upTo(1));
  const state = wait();
  await vi.advanceTimersByTimeAsync(3 * lookMs);
  expect(state.isOver).toBe(false);
  expect(await store.getResponse(run.id)).toEqual(upTo(1));
});

test('INV-2: if the log has lost a run’s end, this server stores the run and settles it', async () => {
  const { wait, log, store, ends } = await openSettled();
  await log.append(run.id, events.slice(0, 1));
  await store.saveResponse(upTo(1));
  const state = wait();
  await vi.advanceTimersByTimeAsync(lookMs);
  expect(state.isOver).toBe(true);
  expect(await store.getResponse(run.id)).toEqual(run);
  expect(await log.unsettled()).toEqual([]);
  expect(ends).toEqual([{ runId: run.id, sessionId: run.sessionId }]);
});

test('a check of history that fails is repeated', async () => {
  const { wait, log, store } = await openSettled();
  await log.append(run.id, events);
  await store.saveResponse(run);
  vi.spyOn(store, 'getResponse').mockRejectedValueOnce(new Error('The database is away.'));
  const state = wait();
  await vi.advanceTimersByTimeAsync(lookMs);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(lookMs);
  expect(state.isOver).toBe(true);
});

test('after a wait has ended, history is no longer checked, and an aborted wait ends at once', async () => {
  const { wait, log, board } = await openSettled();
  const read = vi.spyOn(log, 'read');
  const state = wait();
  await postSettled(board, { runId: run.id, sessionId: run.sessionId });
  await vi.advanceTimersByTimeAsync(3 * lookMs);
  expect(state.isOver).toBe(true);
  const abort = new AbortController();
  const other = wait(abort.signal);
  abort.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(other.isOver).toBe(true);
  await vi.advanceTimersByTimeAsync(3 * lookMs);
  expect(read).not.toHaveBeenCalled();
});

test('postings after closing, and for other runs, do nothing', async () => {
  const { settled, wait, board } = await openSettled();
  await postSettled(board, { runId: 'other', sessionId: 'one' });
  await settled.close();
  const state = wait();
  await postSettled(board, { runId: run.id, sessionId: run.sessionId });
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(false);
});

test('closing before opening does nothing', async () => {
  const { log, store } = openSharedMemoryStorage();
  await expect(new SettledRuns({ log, store }).close()).resolves.toBeUndefined();
});

test('INV-2: a server without other servers also stores a run whose end the log has lost', async () => {
  const { log, store } = openSharedMemoryStorage();
  const settled = new SettledRuns({ log, store });
  const waiting = settled.wait(run, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(lookMs);
  await waiting;
  expect(await store.getResponse(run.id)).toEqual(run);
});
