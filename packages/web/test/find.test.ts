import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { phone, press, type Way } from './controls/ways.ts';
import { message, tool, turn } from './items.ts';
import { openStage, sessionId, stage } from './stage.ts';

const done = { status: 'complete', endedAt: 1 } as const;
const turnsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `t${from + index}`);
const entriesOf = (ids: readonly string[]) =>
  ids.flatMap((turnId) => [
    message(`${turnId}-u`, `Step ${turnId}.`, { turnId, origin: 'user', status: 'complete' }),
    message(`${turnId}-a`, 'A long answer.\n\n'.repeat(8), { turnId, status: 'complete' }),
  ]);

openStage(() => {
  const ids = turnsOf(40, 100);
  stage.history = {
    entries: [
      ...entriesOf(ids),
      tool('c1', { turnId: 't50', status: 'complete', toolOutput: 'a needle in the output' }),
    ],
    turns: ids.map((id) => turn(id, done)),
    cursor: 't99:1',
    before: 'older',
    hasMore: true,
  };
  stage.answer = (_, path) => {
    if (!path.includes('/history')) return undefined;
    const older = turnsOf(0, 40);
    const turns = older.map((id) => turn(id, done));
    return { entries: entriesOf(older), turns, cursor: 't39:1', hasMore: false };
  };
});

const bar = (page: Page) => page.getByRole('search', { name: 'Find in this session' });
const field = (page: Page) => bar(page).getByRole('searchbox');
const count = (page: Page) => bar(page).getByRole('status');
const isInSight = (page: Page, text: string) =>
  page
    .getByRole('log')
    .getByText(text, { exact: true })
    .evaluateAll((all) =>
      all.some(
        (one) =>
          one.getBoundingClientRect().top > 60 && one.getBoundingClientRect().bottom < innerHeight,
      ),
    );
/** Returns the texts that are marked on the page. */
const marked = (page: Page, name: string) =>
  page.evaluate(
    (kind) =>
      [...(CSS.highlights.get(kind) ?? [])].map((range) =>
        range instanceof Range ? range.cloneContents().textContent : undefined,
      ),
    name,
  );
const ways: Way[] = ['mouse', 'keyboard', 'touch'];

async function open(page: Page, way: Way): Promise<void> {
  if (way === 'keyboard') return page.keyboard.press('Control+f');
  await press(page, page.getByRole('button', { name: 'Session', exact: true }), way);
  await press(page, page.getByRole('menuitem', { name: /^Find in this session/ }), way);
}

describe.each(ways)('by %s', (way) => {
  it('a search in a session counts the matches, marks them and scrolls to them, even if they are far away or on a page that is not loaded', async () => {
    const page = await stage.visit(way === 'touch' ? phone : {});
    await open(page, way);
    await field(page).fill('step T');
    await expect.poll(() => count(page).textContent()).toBe('100 of 100');
    await expect.poll(() => isInSight(page, 'Step t99.')).toBe(true);
    await expect.poll(() => marked(page, 'find-current')).toEqual(['Step t']);
    expect((await marked(page, 'find')).length).toBeGreaterThan(1);

    const button = (name: string) => bar(page).getByRole('button', { name });
    const previous = () =>
      way === 'keyboard'
        ? page.keyboard.press('Shift+Enter')
        : press(page, button('Previous match'), way);
    const next = () =>
      way === 'keyboard' ? page.keyboard.press('Enter') : press(page, button('Next match'), way);
    await next();
    await expect.poll(() => count(page).textContent()).toBe('1 of 100');
    await expect.poll(() => isInSight(page, 'Step t0.')).toBe(true);
    await previous();
    await previous();
    await expect.poll(() => count(page).textContent()).toBe('99 of 100');
    await expect.poll(() => isInSight(page, 'Step t98.')).toBe(true);
    if (way === 'keyboard') {
      await field(page).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Escape');
    } else await press(page, button('Close search'), way);
    await bar(page).waitFor({ state: 'detached' });
    expect(await marked(page, 'find')).toEqual([]);
  });
});

it('if a tool’s output contains a match, the tool’s card is opened', async () => {
  const page = await stage.visit();
  await page.keyboard.press('Control+f');
  await field(page).fill('needle');
  await expect.poll(() => count(page).textContent()).toBe('1 of 1');
  await expect.poll(() => marked(page, 'find-current')).toEqual(['needle']);
  await field(page).fill('no such thing');
  await expect.poll(() => count(page).textContent()).toBe('No matches');
});

it('Escape closes the search without stopping the agent; a second Ctrl+F opens the browser’s search', async () => {
  const page = await stage.visit();
  const isTaken = () =>
    page.evaluate(() => {
      const target = document.activeElement ?? document.body;
      const key = { key: 'f', code: 'KeyF', ctrlKey: true, bubbles: true, cancelable: true };
      return !target.dispatchEvent(new KeyboardEvent('keydown', key));
    });
  expect(await isTaken()).toBe(true);
  await field(page).and(page.locator(':focus')).waitFor();
  expect(await isTaken()).toBe(false);
  await page.keyboard.press('Escape');
  await bar(page).waitFor({ state: 'detached' });
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.and(page.locator(':focus')).waitFor();
  expect(stage.requests.filter(({ path }) => path.endsWith(`/${sessionId}/cancel`))).toEqual([]);
});

it('Back closes the search', async () => {
  const page = await stage.visit(phone);
  await open(page, 'touch');
  await field(page).waitFor();
  await page.goBack();
  await bar(page).waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe(`/session/${sessionId}`);
});
