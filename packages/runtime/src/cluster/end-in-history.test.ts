import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { openMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { hasEnd, untilEndInHistory } from './end-in-history.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

const events = runOf([
  { type: 'response_start', modelId: 'm', providerId: 'p' },
  { type: 'response_done', status: 'completed' },
]);
const run = toResponse(events.reduce(foldResponse, emptyResponse()));

function openHistory() {
  const storage = openMemoryStorage();
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  const getResponse = vi.spyOn(storage.store, 'getResponse');
  const asking = { storage, onTrouble };
  /** Waits for the run's end in history. */
  const wait = (signal = new AbortController().signal) => {
    const state = { isOver: false };
    void untilEndInHistory(asking, run?.id ?? '', signal).then(() => (state.isOver = true));
    return state;
  };
  const store = async () => run && storage.store.saveResponse(run);
  return { asking, store, wait, troubles, getResponse };
}

test('hasEnd is true for a run that has ended in history, and false for a run that history lacks', async () => {
  const { asking, store } = openHistory();
  expect(await hasEnd(asking, run?.id ?? '')).toBe(false);
  await store();
  expect(await hasEnd(asking, run?.id ?? '')).toBe(true);
});

test('hasEnd is false if the store cannot be read, and the error is reported', async () => {
  const { asking, store, troubles, getResponse } = openHistory();
  await store();
  const error = new Error('The database is away.');
  getResponse.mockRejectedValueOnce(error);
  expect(await hasEnd(asking, run?.id ?? '')).toBe(false);
  expect(troubles).toEqual([error]);
});

test('history is read every second until it has the end', async () => {
  const { wait, store, getResponse } = openHistory();
  const state = wait();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(getResponse).toHaveBeenCalledTimes(3);
  expect(state.isOver).toBe(false);
  await store();
  await vi.advanceTimersByTimeAsync(500);
  expect(state.isOver).toBe(true);
});

test('the wait ends at once if history already has the end', async () => {
  const { wait, store } = openHistory();
  await store();
  const state = wait();
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(true);
});

test('after a minute the wait ends, and history is not read again', async () => {
  const { wait, getResponse } = openHistory();
  const state = wait();
  await vi.advanceTimersByTimeAsync(59_999);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(state.isOver).toBe(true);
  expect(getResponse).toHaveBeenCalledTimes(60);
});

test('an aborted wait ends at once', async () => {
  const { wait, getResponse } = openHistory();
  const abort = new AbortController();
  const state = wait(abort.signal);
  await vi.advanceTimersByTimeAsync(500);
  abort.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(true);
  const late = wait(abort.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(late.isOver).toBe(true);
  expect(getResponse).toHaveBeenCalledTimes(1);
});
