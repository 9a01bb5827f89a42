import { atLength, testAtLength } from '@liminal/testkit/at-length';
import type { UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { append, message, turn, upsert } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';
import { steady } from './steady.ts';

shareStage();

/** Returns turns of some lines each, the oldest first. */
function conversation(from: number, to: number) {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  const entries = numbers.flatMap((n): UpsertObject[] => [
    message(`u${n}`, `Question ${n}`, { turnId: `t${n}`, origin: 'user', status: 'complete' }),
    message(`a${n}`, `Answer ${n}\n\n${'words and more words '.repeat(60)}`, {
      turnId: `t${n}`,
      status: 'complete',
    }),
  ]);
  const turns = numbers.map((n) => turn(`t${n}`, { status: 'complete', endedAt: 1 }));
  return { entries, turns, cursor: `t${to}:0` };
}

function scroller(page: Page) {
  return page.getByRole('log', { name: 'Conversation' }).locator('..');
}

const fromEnd = (page: Page) =>
  scroller(page).evaluate((e) => Math.round(e.scrollHeight - e.clientHeight - e.scrollTop));

it('while the reader is at the end, the page follows new content; otherwise, it does not', async () => {
  const { entries, turns } = conversation(10, 20);
  stage.history = { entries, turns: [...turns, turn('t1')], cursor: 't1:0', hasMore: false };
  const page = await stage.visitShared();
  await page.locator('[data-item-id="u10"]').waitFor({ state: 'attached' });
  await expect.poll(() => fromEnd(page)).toBeLessThan(2);
  let text = 'Go. ';
  stage.send(upsert(message('live', text)));
  const say = (more: string) => {
    stage.send(append('live', text.length, more));
    text += more;
  };
  for (let line = 0; line < 60; line += 1) say(`Line ${line} is here.\n\n`);
  await page.getByText('Line 59 is here.').waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(2);

  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, -900);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const place = await steady(page, () => scroller(page).evaluate((e) => e.scrollTop));
  say('And one more.');
  await page.getByRole('button', { name: 'new', exact: true }).waitFor();
  expect(await scroller(page).evaluate((e) => e.scrollTop)).toBe(place);

  await page.getByRole('button', { name: 'new', exact: true }).click();
  await expect.poll(() => fromEnd(page)).toBeLessThan(2);
  await expect
    .poll(() => page.getByRole('button', { name: /^(new|Jump to latest)$/ }).count())
    .toBe(0);
});

it.each(atLength ? [0, 500] : [0])(
  'older pages are fetched when the reader is near the top (%d px), and the visible text stays in place',
  async (top) => {
    stage.history = { ...conversation(40, 60), hasMore: true, before: 'mark-40' };
    const measured = Promise.withResolvers<void>();
    stage.answer = async (_, path) => {
      if (path.includes('before=mark-40')) {
        await measured.promise;
        return { ...conversation(20, 40), hasMore: true, before: 'mark-20' };
      }
      if (path.includes('before=mark-20')) return { ...conversation(0, 20), hasMore: false };
      return undefined;
    };
    const asked = () =>
      stage.requests.map(({ path }) => path).filter((path) => path.includes('/history'));
    const page = await stage.visitShared();
    await page.locator('[data-item-id="u40"]').waitFor({ state: 'attached' });
    expect(asked()).toEqual([]);

    const height = (id: string) =>
      page
        .locator(`[data-item-id="${id}"]`)
        .evaluate((e) => Math.round(e.getBoundingClientRect().top));
    await scroller(page).evaluate((e, to) => (e.scrollTop = to), top);
    // Rows near the window are drawn first. They are taller or smaller than estimated.
    const before = await steady(page, () => height('u40'));
    measured.resolve();
    await page.locator('[data-item-id="u20"]').waitFor({ state: 'attached' });
    await expect.poll(async () => Math.abs((await height('u40')) - before)).toBeLessThan(3);

    await scroller(page).evaluate((e, to) => (e.scrollTop = to), top);
    await page.locator('[data-item-id="u0"]').waitFor({ state: 'attached' });
    expect(asked()).toEqual([
      `/api/session/${sessionId}/history?before=mark-40`,
      `/api/session/${sessionId}/history?before=mark-20`,
    ]);
    const questions = await page.getByRole('article', { name: 'You' }).allTextContents();
    expect(questions).toEqual(Array.from({ length: 60 }, (_, n) => `Question ${n}`));
  },
);

it('a lost connection is restored automatically, and content that is already shown is not rendered again', async () => {
  stage.history = { ...conversation(0, 3), hasMore: false };
  const page = await stage.visitShared();
  const first = await page.locator('[data-item-id="a0"]').elementHandle();
  const { entries, turns } = conversation(0, 4);
  stage.history = { entries, turns, cursor: 't4:0', hasMore: false };
  stage.hangUp();
  await page.getByText('Answer 3').waitFor();
  expect(await first.evaluate((element) => element.isConnected)).toBe(true);
  expect(stage.received.filter(({ type }) => type === 'session:subscribe').at(-1)).toMatchObject({
    cursor: 't3:0',
  });
});

it('a tab keeps its draft and its scroll position', async () => {
  stage.history = { ...conversation(0, 20), hasMore: false };
  const page = await stage.visitShared();
  await page.locator('[data-item-id="u0"]').waitFor({ state: 'attached' });
  await page.getByRole('textbox', { name: 'Message' }).fill('Not yet sent');
  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, -1500);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const place = await steady(page, () => scroller(page).evaluate((e) => e.scrollTop));
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Start page' }).click();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await page.getByRole('navigation', { name: 'Open sessions' }).getByRole('link').click();
  await page.getByRole('log').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Not yet sent');
  await expect.poll(() => scroller(page).evaluate((e) => e.scrollTop)).toBe(place);
  await page.reload();
  await page.getByRole('log').waitFor();
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue())
    .toBe('Not yet sent');
});

testAtLength(
  'on a phone, the sessions are in a drawer, and nothing is wider than the page',
  async () => {
    stage.history = { ...conversation(0, 2), hasMore: false };
    const page = await stage.visit({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await page.getByRole('button', { name: 'Sessions' }).click();
    const drawer = page.getByRole('dialog', { name: 'Sessions' });
    await drawer.getByRole('link', { name: /Fix the login/ }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  },
);
