import { testAtLength } from '@liminal/testkit/at-length';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { append, begun, message, tool, turn, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';
import { steady } from './steady.ts';

shareStage(() => {
  stage.history = begun('Build it');
});

const call = { toolArguments: { command: 'npm run build' } };
const card = (page: Page) => page.getByRole('group', { name: 'Run npm run build' });
const output = (page: Page) => card(page).getByLabel('Output');

/** Returns the element that scrolls the output. */
const screen = (page: Page) => output(page).locator('xpath=ancestor::*[@data-whole]');
const fromEnd = (scroller: Locator) =>
  scroller.evaluate((e) => Math.round(e.scrollHeight - e.clientHeight - e.scrollTop));

/** Sends a program's output piece by piece. */
function program() {
  let written = '';
  return {
    write: (text: string) => {
      if (written === '') stage.send(upsert(tool('call', { ...call, toolOutput: text })));
      else stage.send(append('call', written.length, text));
      written += text;
    },
    end: (exitCode: number) => {
      const ending = { exitCode, toolOutputIsError: exitCode !== 0, toolOutput: written };
      stage.send(upsert(tool('call', { ...call, ...ending, status: 'complete' })));
    },
  };
}

it('the output of a running command is visible, and is followed while the reader is at its end', async () => {
  const page = await stage.visitShared();
  const { write, end } = program();
  write('line 0\n');
  await output(page).getByText('line 0').waitFor();
  for (let line = 1; line <= 80; line += 1) write(`line ${line}\n`);
  await output(page).getByText('line 80').waitFor();
  const scroller = screen(page);
  await expect.poll(() => fromEnd(scroller)).toBeLessThan(2);
  expect(await scroller.evaluate((e) => e.clientHeight)).toBeLessThan(320);

  await scroller.hover();
  await page.mouse.wheel(0, -600);
  const jump = card(page).getByRole('button', { name: 'Jump to end' });
  await jump.waitFor();
  const place = await steady(page, () => scroller.evaluate((e) => e.scrollTop));
  write('line 81\n');
  await output(page).getByText('line 81').waitFor({ state: 'attached' });
  expect(await scroller.evaluate((e) => e.scrollTop)).toBe(place);

  await jump.click();
  await expect.poll(() => fromEnd(scroller)).toBeLessThan(2);
  await expect.poll(() => jump.count()).toBe(0);
  // In every browser, keys must be able to scroll the output.
  expect(await scroller.getAttribute('tabindex')).toBe('0');
  end(0);
  await card(page).getByRole('img', { name: 'done' }).waitFor();
  expect(await card(page).getByText('Exit code 0 · 2 s').count()).toBe(1);
  expect(await output(page).getByText('line 81').isVisible()).toBe(true);
});

it('colours are shown, overwritten text is gone, and markup is shown as text', async () => {
  const page = await stage.visitShared();
  const { write } = program();
  write('\u001B[32mok\u001B[0m <img src=x onerror=alert(1)> <b>bold</b>\n');
  for (const share of [10, 50, 100]) write(`\rFetched ${share} %`);
  // The escape sequence is cut in two pieces.
  write('\u001B[');
  write('31mbad\u001B[39m');
  await output(page).getByText('bad').waitFor();
  expect(await output(page).innerText()).toBe(
    'ok <img src=x onerror=alert(1)> <b>bold</b>\nFetched 100 %bad',
  );
  expect(await output(page).locator('img, b').count()).toBe(0);
  const colour = (text: string) =>
    output(page)
      .getByText(text, { exact: true })
      .evaluate((e) => e.style.color);
  expect([await colour('ok'), await colour('bad')]).toEqual([
    'var(--ansi-green)',
    'var(--ansi-red)',
  ]);
});

it('output that is already rendered is not rendered again when more output follows', async () => {
  const page = await stage.visitShared();
  const { write } = program();
  write(Array.from({ length: 250 }, (_, line) => `line ${line}\n`).join(''));
  const first = output(page).locator('> *').first();
  await first.waitFor();
  const element = await first.elementHandle();
  const changes = await first.evaluateHandle((element) => {
    const seen = { count: 0 };
    new MutationObserver((records) => (seen.count += records.length)).observe(element, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    return seen;
  });
  for (let line = 250; line < 320; line += 1) write(`line ${line}\n`);
  await output(page).getByText('line 319').waitFor();
  expect(await changes.evaluate((seen) => seen.count)).toBe(0);
  expect(await element?.evaluate((block) => block.isConnected)).toBe(true);
});

it('of a huge output, only the end is shown at first, and all kept lines can be shown', async () => {
  const page = await stage.visitShared();
  const { write, end } = program();
  for (let at = 0; at < 5_000; at += 500) {
    write(Array.from({ length: 500 }, (_, line) => `line ${at + line}\n`).join(''));
  }
  write(`${'x'.repeat(200_000)}\n`);
  end(1);
  await card(page).getByText('Exit code 1').waitFor();
  await output(page).getByText('and more in this line').waitFor();
  expect((await output(page).innerText()).length).toBeLessThan(40_000);
  const earlier = card(page).getByRole('button', { name: /^Show 4001 earlier lines/ });
  await earlier.click();
  await output(page).getByText('line 0', { exact: false }).first().waitFor({ state: 'attached' });
  expect(await output(page).evaluate((e) => e.textContent.startsWith('line 0\n'))).toBe(true);

  const scroller = screen(page);
  const before = await scroller.evaluate((e) => e.clientHeight);
  await card(page).getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => scroller.evaluate((e) => e.clientHeight)).toBeGreaterThan(before * 3);
});

const letters = 'abcdefgh';
const rainbow = (count: number) =>
  Array.from({ length: count }, (_, n) => `\u001B[3${n % 8}m${letters[n % 7]}`).join('');

it.each([
  ['60,000 coloured letters in a line', rainbow(60_000), 'and more in this line'],
  ['1,000 lines of 80 coloured letters', `${rainbow(80)}\n`.repeat(1_000), 'abcdefg'],
  ['lines of letters that join', `${'\u0E33\u0323'.repeat(4_000)}\n`.repeat(50), '\u0E33\u0323'],
  ['lines in two directions', `${'a\u05D0'.repeat(4_000)}\n`.repeat(50), 'a\u05D0'],
])(
  'SAFE: only a bounded part of the output is rendered, and the page responds: %s',
  async (_, text, words) => {
    const page = await stage.visitShared();
    const { write, end } = program();
    write(text.slice(0, text.length / 2));
    await output(page).waitFor();
    write(text.slice(text.length / 2));
    end(0);
    await card(page).getByText('Exit code 0').waitFor();
    await expect.poll(() => output(page).evaluate((e) => e.textContent)).toContain(words);
    expect(await output(page).locator('*').count()).toBeLessThan(12_000);
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    const start = performance.now();
    await field.fill('Are you there');
    expect(performance.now() - start).toBeLessThan(10_000);
    await field.fill('');
  },
);

it('a long line is copied unchanged', async () => {
  const page = await stage.visitShared();
  const { write } = program();
  const line = Array.from({ length: 900 }, (_, n) => `\u001B[3${n % 8}mคำ${n}`).join(' ');
  write(`before\n${line}\nafter\n`);
  await output(page).getByText('after').waitFor();
  // The line is laid out in pieces.
  expect(await output(page).locator('span[class*="piece"]').count()).toBeGreaterThan(5);
  await output(page).evaluate((e) => getSelection()?.selectAllChildren(e));
  // oxlint-disable-next-line no-control-regex -- what the terminal removes
  const plain = line.replaceAll(/\u001B\[\d+m/g, '');
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(`before\n${plain}\nafter`);
});

it('a short command stays one line; its card can be opened and shows the output', async () => {
  const page = await stage.visitShared();
  const startedAt = new Date().toISOString();
  const quick = { ...call, startedAt, toolOutput: 'done\n' };
  stage.send(upsert(tool('call', quick)));
  const ending = { ...quick, status: 'complete', exitCode: 0 } as const;
  stage.send(upsert(tool('call', { ...ending, sourceTimestamp: startedAt })));
  await card(page).getByRole('img', { name: 'done' }).waitFor();
  expect(await output(page).count()).toBe(0);
  await card(page).getByRole('button').click();
  expect(await output(page).innerText()).toBe('done');
  expect(await card(page).getByRole('button', { name: 'Show all' }).count()).toBe(0);
});

testAtLength('on a phone, the output is no wider than the page', async () => {
  const page = await stage.visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  program().write(`${'a-very-long-word-'.repeat(40)}\n`);
  await output(page).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

it('the output of a person’s own command is visible; the output of a quick command of an agent is not', async () => {
  const shown = { toolOutput: ' M src/login.ts\n', status: 'complete' } as const;
  const git = tool('own', { kind: 'execute', toolArguments: { command: 'git status' }, ...shown });
  const user = (id: string, content: string, turnId: string) =>
    message(id, content, { origin: 'user', status: 'complete', turnId });
  stage.history = {
    entries: [
      user('u1', '!git status', 't1'),
      { ...git, turnId: 't1' },
      user('u2', 'What has changed?', 't2'),
      { ...git, turnId: 't2', itemId: 'agents', callId: 'agents' },
    ],
    turns: ['t1', 't2'].map((id) => turn(id, { status: 'complete', endedAt: 1_000 })),
    cursor: 't2:0',
    hasMore: false,
  };
  const page = await stage.visit();
  const cards = page.getByRole('group', { name: 'Run git status' });
  await cards.nth(1).waitFor();
  await cards.first().getByText('M src/login.ts').waitFor();
  expect(await cards.nth(1).getByLabel('Output').count()).toBe(0);
});
