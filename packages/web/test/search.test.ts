import { testAtLength } from '@liminal/testkit/at-length';
import type { SearchResult, UpsertObject } from '@liminal/protocol';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { message, tool, turn } from './items.ts';
import { openStage, otherSession, sessionId, stage } from './stage.ts';
import { steady } from './steady.ts';

openStage(() => {
  stage.others = [otherSession('o1', { title: 'A needle in the title' }), otherSession('o2')];
});

type Hit = SearchResult['hits'][number];

const session = { sessionId, cliType: 'demo', projectId: '/code/shop', title: 'Fix the login' };

function hit(itemId: string, snippet: string, rest: Partial<Hit['item']> = {}): Hit {
  const item = { runId: 'r1', index: 0, itemId, type: 'message' as const, ...rest };
  return { ...session, snippet, item };
}

/** Sets the server's response to a search. */
function find(...hits: Hit[]): void {
  const before = stage.answer;
  stage.answer = (method, path, body) =>
    path.startsWith('/api/search') ? { hits } : before(method, path, body);
}

const searches = () =>
  stage.requests.flatMap(({ path }) =>
    path.startsWith('/api/search') ? [new URL(path, 'http://x').searchParams.get('q')] : [],
  );

const field = (page: Page) => page.getByRole('searchbox', { name: 'Search sessions' });
const results = (page: Page) => page.getByRole('region', { name: 'In conversations' });
const address = (page: Page) => {
  const { pathname, hash } = new URL(page.url());
  return pathname + hash;
};

/** Returns turns with a question and an answer each. */
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

/** Makes a conversation of 60 turns in three pages. */
function manyPages(): void {
  stage.history = { ...conversation(40, 60), hasMore: true, before: 'mark-40' };
  stage.answer = (_, path) => {
    if (path.includes('before=mark-40'))
      return { ...conversation(20, 40), hasMore: true, before: 'mark-20' };
    if (path.includes('before=mark-20')) return { ...conversation(0, 20), hasMore: false };
    return undefined;
  };
}

const focusedItem = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('data-item-id'));

it('hits in titles come first, then hits in conversations, by session and with the words marked', async () => {
  find(hit('a1', 'the NEEDLE lies here'), hit('c1', 'needles', { type: 'function_call_output' }));
  const page = await stage.visit({}, '/');
  // The clock is paused, so that there is no pause in typing between the keys even on a busy machine.
  await page.clock.pauseAt(Date.now() + 60_000);
  await field(page).pressSequentially('needle');
  await page.clock.resume();
  await results(page).getByRole('link').first().waitFor();
  expect(await results(page).locator('mark').allTextContents()).toEqual(['NEEDLE', 'needle']);
  expect(await results(page).getByRole('heading', { level: 3 }).innerText()).toBe('Fix the login');
  const names = await page
    .getByRole('navigation', { name: 'Sessions', exact: true })
    .getByRole('link')
    .allInnerTexts();
  expect(names[0]).toContain('A needle in the title');
  expect(names).toHaveLength(3);
  // Text that is typed without a pause must cause only one search.
  expect(searches()).toEqual(['needle']);
});

it('the page shows that a search is running, that it failed and can be retried, and that it found nothing', async () => {
  const answered = Promise.withResolvers<SearchResult>();
  stage.answer = (_, path) => (path.startsWith('/api/search') ? answered.promise : undefined);
  const page = await stage.visit({}, '/');
  await field(page).fill('hay');
  await results(page).getByText('Searching…').waitFor();
  answered.resolve({ hits: [] });
  await results(page).getByText('No matches in conversations.').waitFor();
  stage.refuse = (path) =>
    path.startsWith('/api/search') ? { code: 'STORE_READ_FAILED', message: 'No disk.' } : undefined;
  await field(page).fill('haystack');
  await results(page).getByText('could not be searched: No disk.').waitFor();
  stage.refuse = () => undefined;
  await results(page).getByRole('button', { name: 'Try again' }).click();
  await results(page).getByText('No matches in conversations').waitFor();
  await field(page).press('Escape');
  await expect.poll(() => results(page).count()).toBe(0);
});

it('results of a cancelled search that arrive late are not shown', async () => {
  const late = Promise.withResolvers<SearchResult>();
  stage.answer = (_, path) => {
    if (path.startsWith('/api/search?q=one&')) return late.promise;
    return path.startsWith('/api/search') ? { hits: [hit('a2', 'two')] } : undefined;
  };
  const page = await stage.visit({}, '/');
  await field(page).fill('one');
  await expect.poll(searches).toEqual(['one']);
  await field(page).fill('two');
  await results(page).getByRole('link', { name: 'two' }).waitFor();
  late.resolve({ hits: [hit('a1', 'one')] });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 0)));
  expect(await results(page).getByRole('link').allInnerTexts()).toEqual(['two']);
});

it('a hit opens its session at the item, however many pages back the item is; the item’s address does the same, and Back returns', async () => {
  manyPages();
  find(hit('a3', 'Answer 3'));
  const page = await stage.visit({}, '/');
  await field(page).fill('answer');
  await results(page).getByRole('link', { name: 'Answer 3' }).waitFor();
  await field(page).press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const found = page.locator('[data-item-id="a3"]');
  await found.and(page.locator('[data-found]')).waitFor();
  await expect.poll(() => address(page)).toBe(`/session/${sessionId}#item-a3`);
  await expect.poll(() => focusedItem(page)).toBe('a3');
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const box = await steady(page, () => found.boundingBox());
  expect(box?.y).toBeGreaterThan(40);
  expect(box?.y).toBeLessThan(600);

  await page.goBack();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await page.goForward();
  await expect.poll(() => focusedItem(page)).toBe('a3');

  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect.poll(() => focusedItem(other)).toBe('a3');
});

it('folded content opens for its hit: a read in a run of reads, and the output of a call below another call', async () => {
  const below = { turnId: 't1', status: 'complete', parentCallId: 'task' } as const;
  const read = { toolName: 'Read', kind: 'read', status: 'complete' } as const;
  stage.history = {
    entries: [
      tool('r1', { ...read, toolOutput: 'one' }),
      tool('r2', { ...read, toolOutput: 'the second file' }),
      tool('task', { toolName: 'Task', status: 'complete' }),
      tool('inner', { ...below, toolOutput: 'a needle' }),
    ],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 'c',
    hasMore: false,
  };
  find(
    hit('out', 'second file', { type: 'function_call_output', callId: 'r2' }),
    hit('out2', 'a needle', { type: 'function_call_output', callId: 'inner' }),
  );
  const page = await stage.visit();
  await field(page).fill('file');
  await results(page).getByRole('link', { name: 'second file' }).click();
  await expect.poll(() => focusedItem(page)).toBe('r2');
  await page.locator('[data-item-id="r2"]').getByText('the second file').waitFor();
  await results(page).getByRole('link', { name: 'a needle' }).click();
  await expect.poll(() => focusedItem(page)).toBe('inner');
  await page.locator('[data-item-id="inner"]').getByText('a needle').waitFor();
});

it('an item that is on no page is reported as missing', async () => {
  manyPages();
  const page = await stage.visit({}, `/session/${sessionId}#item-gone`);
  await page.getByRole('alert').getByText('not in this conversation').waitFor();
  await page.getByRole('alert').getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
});

it('the palette finds sessions, then hits in conversations, and both can be opened by keys', async () => {
  stage.history = { ...conversation(0, 20), hasMore: false };
  // The server also finds words with other accents; the palette must not filter them out.
  find(hit('a2', 'Answer 2 with a néedle'));
  const page = await stage.visit();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search commands and sessions' }).fill('needle');
  await page.getByRole('option', { name: /Answer 2/ }).waitFor();
  const options = await page.getByRole('option').allInnerTexts();
  expect(options).toHaveLength(2);
  expect(options[0]).toContain('A needle in the title');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => focusedItem(page)).toBe('a2');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

testAtLength('on a phone, a tap on a hit closes the drawer and shows the hit', async () => {
  manyPages();
  find(hit('a25', 'Answer 25'));
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const page = await stage.visit(phone);
  await page.getByRole('button', { name: 'Sessions' }).tap();
  await field(page).fill('answer');
  await results(page).getByRole('link', { name: 'Answer 25' }).tap();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => focusedItem(page)).toBe('a25');
});

/** Returns the texts that are marked in the conversation. */
const markedTexts = (page: Page) =>
  page.evaluate(() =>
    [...(CSS.highlights.get('found') ?? [])].map((range) =>
      range instanceof Range ? range.cloneContents().textContent : '',
    ),
  );

it('the matched words are visible in the sidebar, in the palette, and in the opened message', async () => {
  const far = `${'Before it many words stand. '.repeat(8)}Then the needle lies there, and more follows.`;
  const long = `${'A paragraph of words.\n\n'.repeat(120)}Here is the **Needle** itself.\n\n${'More.\n\n'.repeat(40)}`;
  stage.history = {
    entries: [message('a9', long, { turnId: 't1', status: 'complete' })],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 'c',
    hasMore: false,
  };
  find(hit('a9', far));
  const page = await stage.visit({ viewport: { width: 1400, height: 900 } });
  await field(page).fill('needle');
  const link = results(page).getByRole('link').first();
  await link.waitFor();
  const isInside = async (outer: Locator) => {
    const [mark, box] = [await outer.locator('mark').boundingBox(), await outer.boundingBox()];
    expect(mark!.x + mark!.width).toBeLessThanOrEqual(box!.x + box!.width);
    expect(mark!.y + mark!.height).toBeLessThanOrEqual(box!.y + box!.height);
    const isHit = await outer.locator('mark').evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) === element;
    });
    expect(isHit).toBe(true);
  };
  await isInside(link);
  // The text must fill two whole lines, and no part of a third line may be visible.
  const lines = link.locator('span').first();
  const height = (await lines.boundingBox())!.height;
  const lineHeight = await lines.evaluate((one) =>
    Number.parseFloat(getComputedStyle(one).lineHeight),
  );
  expect(height).toBeLessThanOrEqual(2 * lineHeight + 1);
  await link.click();
  await expect.poll(() => markedTexts(page)).toEqual(['Needle']);
  const topOfMark = () =>
    page.evaluate(() => {
      const [range] = CSS.highlights.get('found') ?? [];
      return range instanceof Range ? range.getBoundingClientRect().top : -1;
    });
  const top = await steady(page, topOfMark);
  expect(top).toBeGreaterThan(42);
  expect(top).toBeLessThan(820);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search commands and sessions' }).fill('needle');
  const option = page.getByRole('option').filter({ hasText: 'lies there' });
  await option.waitFor();
  await isInside(option);
});
