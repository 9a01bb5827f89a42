import type { UpsertObject } from '@liminal/protocol';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { append, message, tool, turn, upsert } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage();

/** Returns one endless turn with this number of items: texts, commands, and some code blocks. */
function hugeTurn(count: number): UpsertObject[] {
  return Array.from({ length: count }, (_, n) => {
    if (n % 3 === 1) {
      const call = { toolArguments: { command: `make ${n}` }, toolOutput: `made ${n}` };
      return tool(`i${n}`, { ...call, status: 'complete' });
    }
    const code = n % 30 === 0 ? '\n\n```ts\nconst a = 1;\n```' : '';
    return message(`i${n}`, `Item ${n}. ${'word '.repeat(n % 40)}${code}`, { status: 'complete' });
  });
}

function play(entries: UpsertObject[]) {
  stage.history = { entries, turns: [turn('t1')], cursor: 't1:0', hasMore: false };
}

const scroller = (page: Page) => page.getByRole('log', { name: 'Conversation' }).locator('..');
const item = (page: Page, id: string) => page.locator(`[data-item-id="${id}"]`);
const drawn = (page: Page) => page.locator('[data-row]').count();
const fromEnd = (page: Page) =>
  scroller(page).evaluate((e) => Math.round(e.scrollHeight - e.clientHeight - e.scrollTop));
const scrollTo = (page: Page, share: number) =>
  scroller(page).evaluate((e, to) => (e.scrollTop = to * e.scrollHeight), share);

/** Resolves when the page has drawn everything around the window. */
const settle = (page: Page) =>
  page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const rows = () => document.querySelectorAll('[data-row]').length;
    for (let still = 0, before = 0; still < 20; still += 1) {
      await frame();
      if (rows() !== before) still = 0;
      before = rows();
    }
  });

/** Returns the row in the middle of the window: its item, and its position in px. */
const inTheMiddle = (page: Page) =>
  scroller(page).evaluate((e) => {
    const box = e.getBoundingClientRect();
    const middle = box.top + box.height / 2;
    const items = [...e.querySelectorAll<HTMLElement>('[data-item-id]')];
    const seen = items.find((one) => one.getBoundingClientRect().bottom > middle);
    return { id: seen?.dataset['itemId'] ?? '', top: seen?.getBoundingClientRect().top ?? 0 };
  });
const topOf = (page: Page, id: string) =>
  item(page, id).evaluate((e) => e.getBoundingClientRect().top);

/** Returns whether a text contains `Item 24` itself, and not only as the start of `Item 249`. */
const saysWhole = (text: string, words: string) => new RegExp(`${words}\\b`).test(text);

/** Returns all text that screen readers receive. */
async function accessibleTexts(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const texts = nodes.filter(({ role }) => role?.value === 'StaticText');
  return texts.map(({ name }) => String(name?.value)).join('\n');
}

interface Finder {
  find: (
    text: string,
    isCaseSensitive?: boolean,
    isBackwards?: boolean,
    wraps?: boolean,
  ) => boolean;
}

/** The number of items in the turn: enough to fill the window many times. */
const count = atLength ? 5_001 : 501;
/** Returns the id of an item, counted from the end: 1 is the last item. */
const fromLast = (n: number) => `i${count - n}`;

/** Returns the first item: code, a diagram, and an image that can be opened. */
const code = (name: string) => `\`\`\`\n${`${name}\n`.repeat(100)}\`\`\`\n`;
const diagram = '```mermaid\ngraph TD\n  A --> B\n```\n';
const image = '![Chart](https://img.example/a.png)\n';
const first = message('i0', [code('one'), code('two'), diagram, image].join('\n'), {
  status: 'complete',
});

/** Facts about the page of one huge turn. They do not depend on earlier actions on this page. */
const claims: Record<string, (page: Page) => Promise<void>> = {
  'only rows near the window are in the page, even in one huge turn, and all can be reached':
    async (page) => {
      expect(await drawn(page)).toBeLessThanOrEqual(250);
      expect(await page.locator('*').count()).toBeLessThan(15_000);
      expect(await page.getByRole('region', { name: 'Turn' }).count()).toBe(1);
      for (const [share, name] of [
        [0, 'i0'],
        [0.5, undefined],
        [1, fromLast(1)],
      ] as const) {
        await scrollTo(page, share);
        if (name !== undefined) await item(page, name).waitFor();
        await settle(page);
        const { id } = await inTheMiddle(page);
        expect(id).not.toBe('');
        expect(await drawn(page)).toBeLessThanOrEqual(250);
        // Check that the items are in order, and that no item between two rendered items is missing.
        const numbers = await page
          .locator('[data-item-id]')
          .evaluateAll((all) =>
            all.map((e) => Number((e as HTMLElement).dataset['itemId']?.slice(1))),
          );
        expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
      }
    },
  'unfolded code, a diagram’s source and a loaded image are restored when their rows return':
    async (page) => {
      await scrollTo(page, 0);
      const button = (name: string) => item(page, 'i0').getByRole('button', { name });
      await button('Show all 100 lines').first().click();
      await button('Show source').click();
      await button('Load image from img.example').click();
      const shown = async () => ({
        lines: (await item(page, 'i0').getByLabel('Code, text').allInnerTexts()).map(
          (text) => text.split('\n').length,
        ),
        source: await item(page, 'i0').getByLabel('Code, mermaid').count(),
        image: await item(page, 'i0').locator('iframe').count(),
      });
      const opened = { lines: [100, 20], source: 1, image: 1 };
      await expect.poll(shown).toEqual(opened);
      await page.getByRole('textbox', { name: 'Message' }).focus();
      await scrollTo(page, 0.9);
      await item(page, 'i0').waitFor({ state: 'detached' });
      await scrollTo(page, 0);
      await item(page, 'i0').waitFor();
      await expect.poll(shown).toEqual(opened);
    },
  'opened rows are still open when they return, and a focused row keeps the focus': async (
    page,
  ) => {
    await scrollTo(page, 1);
    const last = page.getByRole('group', { name: `Run make ${count - 5}` });
    await last.getByRole('button').first().click();
    await last.getByLabel('Output').waitFor();
    await scrollTo(page, 0.3);
    await settle(page);
    // Check that the focused row stays in the page.
    expect(await last.count()).toBe(1);
    const focused = () =>
      page.evaluate(() =>
        document.activeElement?.closest('[data-item-id]')?.getAttribute('data-item-id'),
      );
    expect(await focused()).toBe(fromLast(5));
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await scrollTo(page, 0.1);
    await settle(page);
    expect(await last.count()).toBe(0);
    await scrollTo(page, 1);
    await last.getByLabel('Output').waitFor();
  },
  'visible text stays in place when rows around it change': async (page) => {
    await page.mouse.move(500, 300);
    await page.mouse.wheel(0, -30);
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
    await scrollTo(page, 0.5);
    await settle(page);
    const read = await inTheMiddle(page);
    const number = Number(read.id.slice(1));
    const [above, below] = [-30, 30].map((by) => Math.round((number + by) / 3) * 3);
    const isWhere = async () => Math.abs((await topOf(page, read.id)) - read.top);
    for (const n of [above, below]) {
      const grown = `Item ${n} has grown.\n\n${'More of it. '.repeat(300)}`;
      stage.send(upsert(message(`i${n}`, grown, { status: 'complete' })));
      await item(page, `i${n}`).getByText('has grown').waitFor({ state: 'attached' });
      await settle(page);
      await expect.poll(isWhere).toBeLessThan(2);
    }
    // Scroll up by wheel steps. Each step must move the text by exactly the length of the step, whatever is drawn
    // above.
    for (let step = 0; step < 4; step += 1) {
      const { id, top } = await inTheMiddle(page);
      const start = await scroller(page).evaluate((e) => e.scrollTop);
      await page.mouse.wheel(0, -200);
      await expect.poll(() => scroller(page).evaluate((e) => e.scrollTop)).not.toBe(start);
      await settle(page);
      await expect.poll(async () => Math.abs((await topOf(page, id)) - top - 200)).toBeLessThan(3);
    }
  },
  'visible text does not creep while a row above it grows by fractions of a pixel': async (
    page,
  ) => {
    await scrollTo(page, 0.5);
    await settle(page);
    const read = await inTheMiddle(page);
    await scroller(page).evaluate(async (e) => {
      const { top } = e.getBoundingClientRect();
      const rows = [...e.querySelectorAll<HTMLElement>('[data-row]')];
      const above = rows.findLast((row) => row.getBoundingClientRect().bottom < top);
      for (let step = 1; step <= 60; step += 1) {
        above!.style.paddingBottom = `${step * 1.3}px`;
        await new Promise(requestAnimationFrame);
      }
    });
    const isWhere = async () => Math.abs((await topOf(page, read.id)) - read.top);
    await expect.poll(isWhere).toBeLessThan(2);
  },
  'text is selected across rows, and the selection stays while its rows are not visible': async (
    page,
  ) => {
    await scrollTo(page, 1);
    await item(page, fromLast(3)).waitFor();
    await settle(page);
    await page.evaluate(
      ([from, to]) => {
        const at = (id: string) => document.querySelector(`[data-item-id="${id}"] p`) as Element;
        getSelection()?.setBaseAndExtent(at(from), 0, at(to), 1);
      },
      [fromLast(21), fromLast(3)] as const,
    );
    const selected = () => page.evaluate(() => String(getSelection()));
    const before = await selected();
    expect(before).toContain(`Item ${count - 21}`);
    expect(before).toContain(`Item ${count - 6}`);
    await scrollTo(page, 0.2);
    await settle(page);
    expect(await selected()).toBe(before);
  },
  'rows far from the window are available to screen readers, the browser’s search and copying':
    async (page) => {
      await scrollTo(page, 0.5);
      await settle(page);
      const drawnTexts = async () => {
        const ids = await page
          .locator('[data-row] > [role="article"]')
          .evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset['itemId'] ?? ''));
        return ids.map((id) => `Item ${id.slice(1)}`);
      };
      // Rows are drawn over several frames, and more slowly on a busy machine.
      await expect.poll(async () => (await drawnTexts()).length).toBeGreaterThan(50);
      const unheard = async () => {
        const drawn = await drawnTexts();
        const heard = await accessibleTexts(page);
        return drawn.filter((one) => !saysWhole(heard, one));
      };
      await expect.poll(unheard, { timeout: 60_000 }).toEqual([]);
      const words = await drawnTexts();
      const selected = () => page.evaluate(() => String(getSelection()));
      const [farthest = ''] = words;
      // `window.find` works like the browser's own search. It is missing in the types.
      const isFound = await page.evaluate(
        (text) => (window as never as Finder).find(text, true, false, true),
        farthest,
      );
      expect(isFound).toBe(true);
      expect(await selected()).toBe(farthest);
      await page.getByRole('log').evaluate((e) => getSelection()?.selectAllChildren(e));
      const copied = await selected();
      expect(words.filter((one) => !saysWhole(copied, one))).toEqual([]);
      await page.evaluate(() => getSelection()?.removeAllRanges());
    },
  'the page follows the end of a growing huge turn': async (page) => {
    await scrollTo(page, 1);
    await settle(page);
    let text = 'Go. ';
    stage.send(upsert(message('live', text)));
    await item(page, 'live').waitFor();
    for (let line = 0; line < 60; line += 1) {
      const more = `Line ${line} is here.\n\n`;
      stage.send(append('live', text.length, more));
      text += more;
    }
    await page.getByText('Line 59 is here.').waitFor();
    for (let n = 0; n < 80; n += 1) stage.send(upsert(tool(`new${n}`, { status: 'complete' })));
    await item(page, 'new79').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(2);
    await page.mouse.move(500, 300);
    await page.mouse.wheel(0, -4_000);
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await scrollTo(page, 0.2);
    await settle(page);
    const read = await inTheMiddle(page);
    stage.send(upsert(message('last', 'The last word.')));
    await page.getByRole('button', { name: 'new', exact: true }).waitFor();
    await expect
      .poll(async () => Math.abs((await topOf(page, read.id)) - read.top))
      .toBeLessThan(2);
    await page.getByRole('button', { name: 'new', exact: true }).click();
    await item(page, 'last').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(2);
  },
};

const visit = async () => {
  play([first, ...hugeTurn(count).slice(1)]);
  const page = await stage.visit();
  await item(page, fromLast(1)).waitFor();
  await settle(page);
  return page;
};

const all = Object.entries(claims);
/**
 * Opening the page takes longer than the actions on it. Therefore, the short runs before each commit perform all
 * actions on one page.
 */
const stories: [string, typeof all][] = atLength
  ? all.map((claim) => [claim[0], [claim]])
  : [[Object.keys(claims).join('; '), all]];

// One test plays all facts on each commit, which takes two minutes at a load of 30.
it.each(stories)('in the page of a huge turn, %s', { timeout: 300_000 }, async (_, told) => {
  const page = await visit();
  for (const [name, holds] of told) await expect(holds(page), name).resolves.not.toThrow();
});

const found = atLength ? 1_500 : 1_100;

it('an address with an item shows the item, even if it is far from the window, inside a fold, or on an older page', async () => {
  const entries = hugeTurn(found).map((entry) => {
    const n = Number(entry.itemId.slice(1));
    return n === 701 || n === 702 || n === 703
      ? tool(`i${n}`, { kind: 'read', toolName: 'Read', status: 'complete' })
      : entry;
  });
  const [older, newer] = [entries.slice(0, 500), entries.slice(500)];
  stage.history = { entries: newer, turns: [turn('t1')], cursor: 'c', hasMore: true, before: 'b' };
  stage.answer = (_, path) =>
    path.includes('before=b')
      ? { entries: older, turns: [turn('t1')], cursor: '', hasMore: false }
      : undefined;
  const page = await stage.visit();
  const inSight = async (id: string) => {
    await item(page, id).and(page.locator('[data-found]')).waitFor();
    const isInWindow = async () => {
      const top = await topOf(page, id);
      return top > 0 && top < 700;
    };
    await expect.poll(isInWindow).toBe(true);
  };
  for (const id of ['i900', 'i702', 'i100', `i${found - 1}`]) {
    await page.evaluate((to) => (location.hash = `item-${to}`), id);
    await inSight(id);
  }
});

const printed = atLength ? 600 : 300;

testAtLength('a printed page contains everything that is loaded', async () => {
  play(hugeTurn(printed));
  const page = await stage.visit();
  await item(page, `i${printed - 1}`).waitFor();
  await settle(page);
  expect(await item(page, 'i0').count()).toBe(0);
  const pdf = (await page.pdf()).toString('latin1');
  expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(15);
  await settle(page);
  expect(await drawn(page)).toBeLessThanOrEqual(250);
});
