import { atLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begun, message, tool, upsert } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage(() => {
  stage.history = begun('Show it');
});

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/**
 * Markdown that is too much for a parser or for a page. Each entry contains its name, the Markdown, and a part of the
 * Markdown's text.
 */
const bombs: [name: string, markdown: string, words: string][] = [
  ['3,000 quotes inside of each other', `${'>'.repeat(3000)} deep words`, 'deep words'],
  [
    'a table of 5,000 columns',
    `|${'head|'.repeat(5000)}\n|${'-|'.repeat(5000)}\n|${'cell|'.repeat(5000)}`,
    'head|head',
  ],
  [
    'a table of 300 columns whose 300 rows have one cell',
    `|${'head|'.repeat(300)}\n|${'-|'.repeat(300)}\n${lines(300, (n) => `row ${n}`)}`,
    'head|head',
  ],
  ['20,000 brackets', `brackets ${'['.repeat(20_000)}`, 'brackets'],
  ['20,000 stars', `stars ${'*a'.repeat(20_000)}`, 'stars'],
  ['10,000 formulas without an end', `formulas ${'\\('.repeat(10_000)}`, 'formulas'],
  ['a list 500 levels deep', lines(500, (n) => `${'  '.repeat(n)}- level ${n}`), 'level 0'],
  [
    'a list 500 levels deep with blank lines',
    lines(500, (n) => `${'  '.repeat(n)}- level ${n}\n`),
    'level 0',
  ],
  ['100,000 footnote references', `[^1]: A note.\n\nnotes ${'[^1] '.repeat(100_000)}`, 'notes'],
  ['5,000 footnotes', lines(5000, (n) => `word[^${n}]\n\n[^${n}]: note ${n}\n`), 'note 0'],
  ['a line of 1 MB', `line ${'x'.repeat(1 << 20)}`, 'line xxx'],
  ['1 MB of paragraphs', lines(50_000, (n) => `Paragraph ${n}.\n`), 'Paragraph 0.'],
  ['50,000 items', lines(50_000, (n) => `- item ${n}`), 'item 0'],
  ['code of one line of 500 KB', `\`\`\`json\n${'[{"a":'.repeat(80_000)}\n\`\`\``, '[{"a":'],
  ['a huge formula', `$$\n${'a+'.repeat(50_000)}\n$$`, 'a+a+'],
  ['a formula that grows', `$$\n\\def\\a{${'x'.repeat(500)}}${'\\a'.repeat(290)}\n$$`, '\\def'],
  [
    'a huge diagram',
    `\`\`\`mermaid\ngraph TD\n${lines(4000, (n) => `a${n % 300} --> b${n % 290}`)}\n\`\`\``,
    'graph TD',
  ],
];

/** Opens the page, and records its long tasks (ms). */
async function look(): Promise<{ page: Page; longest: () => Promise<number> }> {
  const page = await stage.visit();
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    const note = (list: PerformanceObserverEntryList) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration));
    new PerformanceObserver(note).observe({ type: 'longtask' });
  });
  const longest = () =>
    page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks));
  return { page, longest };
}

/** Resolves with the time (ms) that the page took to show typed text. */
async function type(page: Page): Promise<number> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const start = performance.now();
  await field.fill('Are you there');
  expect(await field.inputValue()).toBe('Are you there');
  return performance.now() - start;
}

const item = (page: Page, id: string) => page.locator(`[data-item-id="${id}"]`);

/**
 * The entries that are played. Short runs play only Markdown that is too long, because other tests cover Markdown that
 * is too deep, and play the largest Markdown that is still rendered. Long runs play all entries.
 */
const short = /1 MB of/;
const played = bombs.filter(([name]) => atLength || short.test(name));

/** Returns the text of the page. A drawn diagram counts with the alternative text of its image. */
const shownBy = async (page: Page) => {
  const bomb = item(page, 'bomb');
  const drawn = await bomb
    .getByRole('img')
    .evaluateAll((all) => all.map((one) => one.getAttribute('alt')));
  return [await bomb.textContent(), ...drawn].join('\n');
};

/** The longest task of the page, and the longest time until a typed text was shown, in ms. */
interface Held {
  busy: number;
  typed: number;
}

const isHeldUp = ({ busy, typed }: Held) => busy >= 500 || typed >= 1000;

/** Shows Markdown that is too much, and a message after it. */
async function show(markdown: string, words: string): Promise<Held> {
  const { page, longest } = await look();
  stage.send(upsert(message('bomb', markdown, { status: 'complete' })));
  await item(page, 'bomb').waitFor();
  let typed = await type(page);
  await expect.poll(() => shownBy(page)).toContain(words);
  stage.send(upsert(message('next', 'All **well**.', { status: 'complete' })));
  await item(page, 'next').locator('strong').waitFor();
  // The page continues to render step by step for a while.
  for (let n = 0; n < 10; n += 1) {
    typed = Math.max(typed, await type(page));
    await page.waitForTimeout(100);
  }
  const busy = await longest();
  await page.close();
  return { busy, typed };
}

/**
 * Tries up to eight times. Other programs may slow the machine, but never make the page faster, so one good try is
 * enough.
 */
async function goodTry<T>(attempt: () => Promise<T>, isGood: (result: T) => boolean): Promise<T> {
  let result = await attempt();
  for (let tries = 1; tries < 8 && !isGood(result); tries += 1) result = await attempt();
  return result;
}

it.each(played)(
  'SAFE: the page responds while it shows Markdown that is too much: %s',
  async (_, markdown, words) => {
    const held = await goodTry(
      () => show(markdown, words),
      (one) => !isHeldUp(one),
    );
    expect(held.busy).toBeLessThan(500);
    expect(held.typed).toBeLessThan(1000);
  },
);

it('SAFE: the page responds while it draws a diagram of the largest allowed size', async () => {
  const edges = lines(50, (n) => `a${n % 30} --> b${n % 29}`);
  const code = `\`\`\`mermaid\ngraph TD\n${edges}\n\`\`\``;
  // The longest task is not checked here, since it is near its bound. The figure `diagram` of the bench measures it.
  const held = await goodTry(
    () => show(code, 'graph TD'),
    ({ typed }) => typed < 1000,
  );
  expect(held.typed).toBeLessThan(1000);
});

it('SAFE: a message that is nested too deeply is shown as plain text, with the reason', async () => {
  const { page } = await look();
  const deep = lines(5, (n) => `${'>'.repeat(3000)} word ${n}`);
  stage.send(upsert(message('bomb', `# Title\n\n${deep}\n\nAnd **more**.`)));
  const bomb = item(page, 'bomb');
  await bomb.getByText('Shown as plain text: ').waitFor();
  expect(await bomb.getByRole('heading').innerText()).toBe('Title');
  expect(await bomb.locator('strong').innerText()).toBe('more');
});

it('SAFE: an item that cannot be rendered is shown as plain text, and the rest of the page works', async () => {
  const { page } = await look();
  await page.evaluate(() => {
    const { filter } = Array.prototype;
    Array.prototype.filter = function broken(this: { content?: string }[], ...given: [never]) {
      if (this[0]?.content === 'odd words') throw new Error('The page has a mistake.');
      return filter.apply(this, given);
    } as never;
  });
  stage.send(upsert(message('first', 'Before.', { status: 'complete' })));
  const entries = [{ content: 'odd words', status: 'pending', priority: 'medium' }];
  stage.send(upsert({ ...message('bad', ''), type: 'plan', entries } as never));
  stage.send(upsert(message('next', 'All **well**.', { status: 'complete' })));
  await item(page, 'next').locator('strong').waitFor();
  await page.getByText('Shown as plain text: it could not be drawn.').waitFor();
  expect(await page.getByText('odd words').count()).toBe(1);
  expect(await item(page, 'first').count()).toBe(1);
  expect(
    await goodTry(
      () => type(page),
      (ms) => ms < 1000,
    ),
  ).toBeLessThan(1000);
});

it('SAFE: only a part of a change of 9,900 lines is shown, and the page responds', async () => {
  const text = (word: string) => lines(9900, (n) => `${word} ${n}`);
  const diffs = [{ path: '/code/shop/c.txt', oldText: text('old'), newText: text('new') }];
  const open = async (): Promise<Held> => {
    const { page, longest } = await look();
    stage.send(
      upsert(tool('edit', { kind: 'edit', title: 'Edit c.txt', status: 'complete', diffs })),
    );
    const changes = page.getByRole('region', { name: /^Changes to/ });
    await changes.getByText('old 0', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show 19788 more lines' }).click();
    await changes.getByText('old 2000', { exact: true }).waitFor();
    const typed = await type(page);
    const busy = await longest();
    await page.close();
    return { busy, typed };
  };
  const held = await goodTry(open, (one) => !isHeldUp(one));
  expect(held.typed).toBeLessThan(1000);
  expect(held.busy).toBeLessThan(500);
});

it('SAFE: a tool call whose arguments are nested 1,000 levels deep can be opened, and the page responds', async () => {
  const deep = Array.from({ length: 1000 }).reduce<unknown>((inner) => [inner], 'end');
  const open = async () => {
    const { page } = await look();
    stage.send(
      upsert(tool('bad', { toolName: 'odd words', kind: 'other', toolArguments: { deep } })),
    );
    stage.send(upsert(message('next', 'All **well**.', { status: 'complete' })));
    await item(page, 'next').locator('strong').waitFor();
    await page.getByRole('button', { name: /odd words/ }).click();
    await page.getByText('deep', { exact: true }).waitFor();
    const typed = await type(page);
    await page.close();
    return typed;
  };
  expect(await goodTry(open, (typed) => typed < 1000)).toBeLessThan(1000);
});
