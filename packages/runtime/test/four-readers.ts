import type { ResponseStore } from '@liminal/storage';
import { expect } from 'vitest';
import type { Runtime } from '../src/index.ts';
import { Reader } from './reader.ts';

interface Loaded {
  runtime: Runtime;
  store: ResponseStore;
  sessionId: string;
}

/** Twelve readers subscribe to a session at once: four are loaded at a time, and readers that have left are skipped. */
export async function expectFourAtATime({ runtime, store, sessionId }: Loaded): Promise<void> {
  const { readItems } = store;
  const gate = Promise.withResolvers<void>();
  let reads = 0;
  store.readItems = async (...asked) => {
    reads += 1;
    await gate.promise;
    return readItems.apply(store, asked);
  };
  const readers = Array.from({ length: 12 }, () => new Reader(runtime, sessionId));
  await expect.poll(() => reads).toBe(4);
  for (const reader of readers.slice(4, 8)) reader.close();
  // A page that is read without a subscription waits until the readers before it have been loaded.
  const page = runtime.history(sessionId);
  await expect.poll(() => reads).toBe(5);
  gate.resolve();
  await page;
  const staying = [...readers.slice(0, 4), ...readers.slice(8)];
  for (const reader of staying) await reader.untilType('session:history');
  expect(reads).toBe(9);
  for (const reader of staying) reader.close();
}
