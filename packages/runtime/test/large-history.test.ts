import { testAtLength } from '@liminal/testkit/at-length';
import type { HistoryPage } from '@liminal/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { expectFourAtATime } from './four-readers.ts';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  const { runtime, projectDir } = world;
  ({ sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir }));
});
afterEach(async () => world.end());

/** All pages for a reader that scrolls up from this page, newest first. */
async function pagesFrom(first: HistoryPage): Promise<HistoryPage[]> {
  const pages = [first];
  for (let page = first; page.hasMore;) {
    page = await world.runtime.history(sessionId, { before: page.before });
    pages.push(page);
  }
  return pages;
}

const idsOf = (pages: readonly HistoryPage[]) =>
  pages.toReversed().flatMap(({ entries }) => entries.map(({ itemId }) => itemId));

async function firstSeen(cursor?: string): Promise<HistoryPage & { resumed: string }> {
  const reader = new Reader(world.runtime, sessionId, { cursor });
  await reader.untilType('session:history');
  reader.close();
  const [history] = reader.messages.filter((message) => message.type === 'session:history');
  if (history === undefined) throw new Error('No history was sent.');
  return history;
}

testAtLength(
  'SAFE: a reader of an open turn with many items gets the newest items, and the others page by page',
  async () => {
    await world.runtime.send(sessionId, 'Go');
    for (let n = 0; n < 1_000; n += 1) world.agent.call(sessionId, `i${n}`);
    const wanted = Array.from({ length: 1_000 }, (_, n) => `i${n}`);
    await expect
      .poll(async () => (await world.runtime.history(sessionId)).entries.at(-1)?.itemId)
      .toBe('i999');
    const first = await firstSeen();
    expect(first.entries.length).toBeLessThan(250);
    expect(idsOf(await pagesFrom(first)).slice(1)).toEqual(wanted);
  },
);

test('SAFE: a page has only a few large items, and all pages together have all items', async () => {
  await world.runtime.send(sessionId, 'Go');
  const large = 'x'.repeat(3 * 1024 * 1024);
  for (let n = 0; n < 10; n += 1) world.agent.text(sessionId, `i${n}`, large);
  world.agent.finish(sessionId);
  await expect
    .poll(async () => (await world.runtime.history(sessionId)).turns[0]?.status)
    .toBe('complete');
  const first = await world.runtime.history(sessionId);
  expect(first.entries.map(({ itemId }) => itemId)).toEqual(['i8', 'i9']);
  const pages = await pagesFrom(first);
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(9 * 1024 * 1024);
  expect(idsOf(pages).slice(1)).toEqual(Array.from({ length: 10 }, (_, n) => `i${n}`));
  // A reader that has missed too much of the turn gets the newest page as well.
  const cursor = pages.at(-1)?.cursor;
  expect((await firstSeen()).entries).toHaveLength(2);
  expect((await firstSeen(first.cursor)).resumed).toBe('tail');
  expect(cursor).toBeDefined();
});

test('SAFE: four readers of a session are loaded at a time, and readers that have left are skipped', async () => {
  await world.runtime.send(sessionId, 'Go');
  world.agent.finish(sessionId);
  await expect
    .poll(async () => (await world.runtime.history(sessionId)).turns[0]?.status)
    .toBe('complete');
  const { runtime, storage } = world;
  await expectFourAtATime({ runtime, store: storage.store, sessionId });
});
