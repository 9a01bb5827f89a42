import { atLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { append, message, turn, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';

let page: Page;
/** The URLs that the page has fetched. */
let fetched: string[];

shareStage(() => {
  stage.history = { entries: [], turns: [turn('t1')], cursor: 't1:0', hasMore: false };
});
beforeEach(async () => {
  page = await stage.visitShared();
  listen();
});

function listen() {
  fetched = [];
  page.on('request', (request) => fetched.push(request.url()));
}

/** Opens a page in which nothing was rendered before, so that a test sees what the page fetches. */
async function visitAnew() {
  page = await stage.visit();
  listen();
}

const item = () => page.locator('[data-item-id="a"]');

function sendMessage(content: string) {
  stage.send(upsert(message('a', content, { status: 'complete' })));
}

/** Sends the remaining text of a growing message. */
async function grow(start: string, more: string) {
  stage.send(upsert(message('a', start)));
  await item().waitFor();
  for (let at = 0; at < more.length; at += 7) {
    stage.send(append('a', start.length + at, more.slice(at, at + 7)));
  }
}

it('footnotes and links find their definitions in other blocks, and the links between text and footnotes stay within the page', async () => {
  const address = page.url();
  sendMessage(
    'One[^b] and [docs].\n\nTwo[^a], again[^b].\n\n[^a]: Note A.\n\n[^b]: Note B.\n\n[docs]: https://a.example/',
  );
  const link = item().getByRole('link', { name: 'docs' });
  expect(await link.getAttribute('href')).toBe('https://a.example/');
  const notes = item().getByRole('group', { name: 'Footnotes' }).getByRole('listitem');
  expect((await notes.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    '1. Note B. ↩',
    '2. Note A. ↩',
  ]);
  const mark = item().getByRole('link', { name: 'Footnote 2', exact: true });
  await mark.click();
  await notes.nth(1).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await mark.and(page.locator(':focus')).waitFor();
  expect(page.url()).toBe(address);
});

it('the footnotes of two messages are numbered separately', async () => {
  sendMessage('One[^1].\n\n[^1]: Of the first.');
  stage.send(upsert(message('b', 'Two[^1].\n\n[^1]: Of the second.', { status: 'complete' })));
  const second = page.locator('[data-item-id="b"]');
  await second.getByRole('link', { name: 'Footnote 1', exact: true }).click();
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toContain('second');
});

it('when a definition arrives late, only the blocks that refer to it are rendered again', async () => {
  const start = 'See [docs] there.\n\nPlain words.\n\nMore.\n\n';
  stage.send(upsert(message('a', start)));
  const plain = item().locator('p').nth(1);
  await plain.waitFor();
  const seen = await plain.evaluateHandle((element) => {
    const changes: MutationRecord[] = [];
    new MutationObserver((records) => changes.push(...records)).observe(element, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    return { element, changes };
  });
  await grow(start, '[docs]: https://a.example/\n\nEnd.\n\nLast.');
  await item().getByRole('link', { name: 'docs' }).waitFor();
  expect(
    await seen.evaluate(({ element, changes }) => [element.isConnected, changes.length]),
  ).toEqual([true, 0]);
});

it('formulas are rendered, and their fonts are fetched with the first formula', async () => {
  await visitAnew();
  sendMessage('It costs $5 and $6.');
  await item().getByText('It costs $5 and $6.').waitFor();
  expect(fetched.filter((url) => url.endsWith('.woff2'))).toEqual([]);
  sendMessage('Euler: $e^{i\\pi} = -1$, \\(a_b\\), and\n\n$$\n\\frac{a}{b}\n$$\n\n\\[\nx\n\\]');
  await expect.poll(() => item().locator('.katex').count()).toBe(4);
  expect(await item().locator('.katex-display').count()).toBe(2);
  expect(await item().locator('math').first().textContent()).toContain('e');
  await expect
    .poll(() => fetched.filter((url) => url.endsWith('.woff2')).length)
    .toBeGreaterThan(0);
  const shown = await page.evaluate(async () => {
    await document.fonts.ready;
    return document.fonts.check('16px KaTeX_Math');
  });
  expect(shown).toBe(true);
});

const formulas = [
  '$\\href{javascript:alert(1)}{x}$',
  '$\\includegraphics{https://evil.example/a.png}$',
  '$\\htmlData{a=b}{x}$',
  '$\\def\\a{\\a\\a}\\a_1$',
  '$\\frac{a_1$',
];

it.each(atLength ? formulas.map((formula) => [formula]) : [formulas])(
  'a formula with links, images, endless macros or mistakes has no effect and stays visible: %s',
  async (...all) => {
    await visitAnew();
    const text = all.map((formula) => `Look: ${formula} end.`).join('\n\n');
    sendMessage(text);
    await expect.poll(() => fetched.some((url) => /Formula/.test(url))).toBe(true);
    await expect
      .poll(async () => (await item().innerText()).match(/end\./g)?.length)
      .toBe(all.length);
    expect(await item().locator('a, img').count()).toBe(0);
    expect(fetched.filter((url) => url.includes('evil'))).toEqual([]);
  },
);

const diagram = '```mermaid\ngraph TD\n  A[Start] --> B{Ready?}\n  B -->|yes| C[Go]\n```\n';

it('a diagram is drawn as an image when its fence is closed, and a click shows its source', async () => {
  await visitAnew();
  stage.send(upsert(message('a', diagram.slice(0, -5))));
  await item().getByText('A[Start]').waitFor();
  expect(await item().getByRole('img').count()).toBe(0);
  sendMessage(`${diagram}\nDone.`);
  const image = item().getByRole('img', { name: /^Diagram: graph TD/ });
  await image.waitFor();
  const { src, width } = await image.evaluate((element) => {
    const { src: address, naturalWidth } = element as HTMLImageElement;
    return { src: address, width: naturalWidth };
  });
  expect(src).toMatch(/^data:image\/svg\+xml,/);
  expect(decodeURIComponent(src)).toContain('Start');
  expect(width).toBeGreaterThan(50);
  // Mermaid measures a diagram in an element of its own. This element must have been removed.
  expect(await page.locator('body > [id^="d"]').count()).toBe(0);
  await item().getByRole('button', { name: 'Show source' }).click();
  await item().getByText('A[Start]').waitFor();
  await item().getByRole('button', { name: 'Show diagram' }).click();
  await image.waitFor();
});

it.each([
  ['a mistake', '```mermaid\ngraph TD\n  A[Start --> \n```'],
  ['no such kind', '```mermaid\nnothing\n```'],
  ['too much', `\`\`\`mermaid\ngraph TD\n${'  A --> B\n'.repeat(3000)}\`\`\``],
])('a diagram that cannot be drawn shows its source and a note: %s', async (_, text) => {
  sendMessage(text);
  await item().getByText('This diagram could not be drawn').waitFor();
  expect(await item().getByLabel('Code, mermaid').count()).toBe(1);
  expect(await page.locator('svg[aria-roledescription="error"]').count()).toBe(0);
});

it('a diagram runs no scripts and fetches nothing', async () => {
  const reached: string[] = [];
  await page.route(/evil\.example/, async (route) => {
    reached.push(route.request().url());
    await route.fulfill({ contentType: 'image/png', body: '' });
  });
  sendMessage(
    [
      '```mermaid',
      '%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "* { background: url(https://evil.example/1) }"}}%%',
      'graph TD',
      '  A["<img src=https://evil.example/2 onerror=window.hacked=1>x"] --> B',
      '  C@{ img: "https://evil.example/3.png", label: "c", w: 60, h: 60 }',
      '  click A href "javascript:window.hacked=1"',
      '  style B fill:url(https://evil.example/4)',
      '```',
    ].join('\n'),
  );
  await item().locator('figure').first().waitFor();
  await item().getByRole('img').or(item().getByText('could not be drawn')).waitFor();
  expect(reached).toEqual([]);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

it('code in lists and quotes has colours, and can be copied', async () => {
  sendMessage('- one\n\n  ```ts\n  const a = 1;\n  ```\n\n> ```py\n> b = 2\n> ```\n');
  await item().getByRole('listitem').getByRole('button', { name: 'Copy code' }).waitFor();
  await item().locator('blockquote').getByRole('button', { name: 'Copy code' }).waitFor();
  await item().locator('li pre span[class^="code-"]').first().waitFor();
  await item().locator('blockquote pre span[class^="code-"]').first().waitFor();
  expect(await item().locator('li pre').innerText()).toBe('const a = 1;');
});

const long = Array.from({ length: 214 }, (_, index) => `line ${index + 1}`).join('\n');

it('long code is folded, unless it was still growing when the page first showed it', async () => {
  const fence = `\`\`\`\n${long}\n\`\`\`\n`;
  sendMessage(fence);
  const pre = item().getByLabel('Code, text');
  const all = item().getByRole('button', { name: 'Show all 214 lines' });
  await all.waitFor();
  expect((await pre.innerText()).split('\n')).toHaveLength(20);
  await all.click();
  expect((await pre.innerText()).split('\n')).toHaveLength(214);

  stage.send(upsert(message('b', fence.slice(0, -5))));
  const growing = page.locator('[data-item-id="b"]');
  await growing.getByText('line 213').waitFor();
  expect(await growing.getByRole('button', { name: /^Show/ }).count()).toBe(0);
  stage.send(upsert(message('b', `${fence}\nEnd.`, { status: 'complete' })));
  await growing.getByText('End.').waitFor();
  expect((await growing.getByLabel('Code, text').innerText()).split('\n')).toHaveLength(214);
  await growing.getByRole('button', { name: 'Show less' }).click();
  await growing.getByRole('button', { name: 'Show all 214 lines' }).waitFor();
});

it('`<br>` in a cell becomes a line break, and other HTML becomes text', async () => {
  sendMessage('| a |\n| - |\n| one<br>two<br/><b>three</b> |\n');
  const cell = item().getByRole('cell');
  expect(await cell.innerText()).toBe('one\ntwo\n<b>three</b>');
  expect(await cell.locator('b').count()).toBe(0);
});

it('right-to-left text runs from right to left, and code does not', async () => {
  sendMessage('שלום עולם\n\nHello world\n\n- מים\n\n```ts\nconst a = 1;\n```');
  const direction = (selector: string, at = 0) =>
    item()
      .locator(selector)
      .nth(at)
      .evaluate((element) => getComputedStyle(element).direction);
  expect(await direction('p')).toBe('rtl');
  expect(await direction('p', 1)).toBe('ltr');
  expect(await direction('ul')).toBe('rtl');
  expect(await direction('pre')).toBe('ltr');
});
