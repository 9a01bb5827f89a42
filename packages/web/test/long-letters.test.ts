import { atLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, message, tool, turn, upsert } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage();

/** Letters that a browser lays out in more than linear time. Laying them out as one block takes up to minutes. */
const scripts = {
  'letters that combine': '\u0E33\u0323',
  'two directions': 'a\u05D0',
  'letters that join': '\u0645',
  'words without blanks': 'สวัสดีชาวโลกวันนี้อากาศดี',
};
const long = (unit: string) => unit.repeat(Math.ceil(200_000 / unit.length)).slice(0, 200_000);
const lines = (unit: string) =>
  `${unit.repeat(Math.ceil(100 / unit.length)).slice(0, 99)}\n`.repeat(2_000);

const texts = Object.entries(scripts).flatMap(([script, unit]) => [
  [script, long(unit)] as const,
  [`${script}, in lines`, lines(unit)] as const,
]);
const short = [texts[0]!, texts[3]!];

const done = { status: 'complete' } as const;
const diff = (text: string) => [{ path: '/code/a.txt', oldText: 'a\n', newText: text }];

/** Functions that show a text at each place, with as much of the text as a person can request. */
const places: Record<string, (page: Page, text: string) => Promise<void>> = {
  'an agent’s message': async (page, text) => {
    stage.send(upsert(message('a', text, done)));
    await page.getByRole('button', { name: /^Show .* more/ }).click();
    await page.getByRole('button', { name: 'Show less' }).waitFor();
  },
  'a message that grows': async (page, text) => {
    for (let length = 4_000; length <= 40_000; length += 4_000)
      stage.send(upsert(message('a', text.slice(0, length))));
    await page.locator('[data-item-id="a"]').waitFor();
  },
  'a person’s message': async (page, text) => {
    stage.send(upsert(message('u2', text, { origin: 'user', ...done })));
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('button', { name: 'Show less' }).waitFor();
  },
  'a block of code': async (page, text) => {
    stage.send(upsert(message('a', `\`\`\`\n${text}\n\`\`\`\n`, done)));
    await page.locator('[data-item-id="a"] pre').waitFor();
    const more = page.getByRole('button', { name: /^Show all/ });
    if ((await more.count()) > 0) await more.click();
  },
  'arguments of a tool': async (page, text) => {
    stage.send(
      upsert(tool('t', { ...done, kind: 'other', toolName: 'odd', toolArguments: { deep: text } })),
    );
    await page.getByRole('button', { name: /odd/ }).click();
    await page.getByRole('button', { name: /^Show .* more/ }).click();
    await page.getByRole('button', { name: 'Show less' }).waitFor();
  },
  'output of a command': async (page, text) => {
    stage.send(
      upsert(
        tool('t', {
          ...done,
          toolArguments: { command: 'cat' },
          toolOutput: text,
          exitCode: 1,
          toolOutputIsError: true,
        }),
      ),
    );
    await page.getByLabel('Output').waitFor();
    const all = page.getByRole('button', { name: 'Show all' });
    if ((await all.count()) > 0) await all.click();
  },
  'a change': async (page, text) => {
    stage.send(
      upsert(tool('t', { ...done, kind: 'edit', title: 'Edit a.txt', diffs: diff(text) })),
    );
    await page.getByRole('region', { name: /^Changes to/ }).waitFor();
  },
  'a permission': async (page, text) => {
    stage.send(upsert(approval('p', { title: `Run ${text}` })));
    await page.getByRole('group', { name: /^Permission/ }).waitFor();
  },
  'a file': async (page, text) => {
    stage.answer = (_, path) => {
      if (!path.includes('/file?')) return undefined;
      const file = {
        path: '/code/shop/a.txt',
        size: text.length,
        modifiedAt: '2026-01-01T00:00:00.000Z',
      };
      return { kind: 'text', ...file, text, isCut: false };
    };
    stage.send(upsert(message('a', 'See [it](a.txt:2).', done)));
    await page.getByRole('button', { name: 'it', exact: true }).click();
    await page.getByRole('region', { name: 'Content' }).waitFor();
  },
  'the queue': async (page, text) => {
    stage.sendInfo({
      queue: [
        { turnId: 'q', message: text, queuedAt: '2026-01-01T00:00:00.000Z', state: 'queued' },
      ],
    });
    await page.getByRole('list', { name: 'Queued messages' }).waitFor();
  },
};

/** Resolves with the time (ms) that the page took to show a typed text. */
async function type(page: Page): Promise<number> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const start = performance.now();
  await field.fill('Are you there');
  await page.evaluate(() => new Promise(requestAnimationFrame));
  return performance.now() - start;
}

it.each(Object.entries(places))(
  'SAFE: at this place, a text may have 200,000 letters of any script: %s',
  async (_, show) => {
    const took: Record<string, number> = {};
    stage.history = {
      entries: [message('u', 'Hello', { origin: 'user', ...done })],
      turns: [turn('t1')],
      cursor: 'c',
      hasMore: false,
    };
    const page = await stage.visit();
    for (const [script, text] of atLength ? texts : short) {
      const start = performance.now();
      await show(page, text);
      await type(page);
      took[script] = Math.round(performance.now() - start);
      await page.reload();
      await page.getByRole('log', { name: 'Conversation' }).waitFor();
    }
    for (const ms of Object.values(took)) expect(ms).toBeLessThan(15_000);
  },
  120_000,
);

it('a text in several pieces is copied unchanged, and a search finds it', async () => {
  const page = await stage.visit();
  const words = Array.from(
    { length: 900 },
    (_, n) => `คำ${n}${n % 7 === 0 ? '\n' : ' '}${n % 50 === 0 ? '\n  ' : ''}`,
  )
    .join('')
    .trim();
  const copied = async (label: string) => {
    const place = page.getByLabel(label, { exact: true });
    await place.waitFor();
    expect(await place.locator('span[class*="piece"]').count()).toBeGreaterThan(2);
    await place.evaluate((e) => getSelection()?.selectAllChildren(e));
    return page.evaluate(() => getSelection()?.toString());
  };
  stage.send(upsert(message('a', `\`\`\`\n${words}\n\`\`\`\n`, done)));
  const more = page.getByRole('button', { name: /^Show all/ });
  await more.click();
  expect(await copied('Code, text')).toBe(words);
  expect(
    await page.evaluate(() =>
      (window as unknown as { find: (...given: unknown[]) => boolean }).find(
        'คำ450',
        false,
        false,
        true,
      ),
    ),
  ).toBe(true);

  stage.send(
    upsert(
      tool('t', { ...done, kind: 'other', toolName: 'odd', toolArguments: {}, toolOutput: words }),
    ),
  );
  await page.getByRole('button', { name: /odd/ }).click();
  await page.getByRole('button', { name: /^Show .* more/ }).click();
  expect(await copied('Output')).toBe(words);

  stage.send(upsert(message('u2', words, { origin: 'user', ...done })));
  await page.getByRole('button', { name: 'Show all' }).last().click();
  const mine = page.getByRole('article', { name: 'You' }).last();
  await mine.evaluate((e) => getSelection()?.selectAllChildren(e));
  expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe(words);
});

it('SAFE: only a part of a long draft is shown; the draft survives a reload and is sent completely', async () => {
  const page = await stage.visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  const text = long(scripts['two directions']);
  await page.evaluate((written) => navigator.clipboard.writeText(written), text);
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Read:');
  await field.press('ControlOrMeta+v');
  await page.getByRole('button', { name: /^Show: Pasted/ }).click();
  await page.getByRole('button', { name: 'Edit in the message' }).click();
  const note = page.getByText('only the start is shown, but all of it is sent.');
  await note.waitFor();
  expect((await field.inputValue()).length).toBeLessThan(2_000);
  await page.reload();
  await note.waitFor();
  await field.focus();
  await field.press('Enter');
  await expect
    .poll(() => stage.requests.find(({ path }) => path.endsWith('/send'))?.body)
    .toMatchObject({ message: `Read:\n\n${text}` });
  await expect.poll(() => field.inputValue()).toBe('');
  await note.waitFor({ state: 'detached' });
});
