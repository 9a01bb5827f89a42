/** Tests how the conversation shows the changes of edits. */
import type { FileDiff } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { message, tool, turn } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage();

const lines = (count: number, word: string) =>
  Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('');

function edited(diffs: FileDiff[]): void {
  const done = { status: 'complete' } as const;
  stage.history = {
    entries: [
      message('u', 'Change it', { origin: 'user', ...done }),
      tool('edit', { ...done, kind: 'edit', title: 'Edit a.ts', toolName: 'Edit', diffs }),
    ],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 't1:0',
    hasMore: false,
  };
}

const changes = (page: Page) => page.getByRole('region', { name: /^Changes to/ });
const cells = async (page: Page) =>
  changes(page)
    .first()
    .getByRole('row')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));

it('an edit that succeeded is shown with line numbers', async () => {
  edited([{ path: '/a.ts', oldText: 'one\ntwo\n', newText: 'one\n2\n', oldLine: 41, newLine: 42 }]);
  const page = await stage.visit();
  await changes(page).waitFor();
  expect(await cells(page)).toEqual([
    ['42', ' ', 'one'],
    ['42', '−', 'two'],
    ['43', '+', '2'],
  ]);
});

it('if the agent reports no line numbers, the lines are shown without numbers', async () => {
  edited([{ path: '/a.ts', oldText: 'two\n', newText: '2\n' }]);
  const page = await stage.visit();
  await changes(page).waitFor();
  expect(await cells(page)).toEqual([
    ['−', 'two'],
    ['+', '2'],
  ]);
});

it('a long edit shows twelve lines at first, and the rest on request', async () => {
  edited([{ path: '/a.ts', newText: lines(40, 'new') }]);
  const page = await stage.visit();
  await changes(page).waitFor();
  expect(await cells(page)).toHaveLength(12);
  await page.getByRole('button', { name: 'Show 28 more lines' }).click();
  await changes(page).getByText('new 39', { exact: true }).waitFor();
  expect((await cells(page)).at(-1)).toEqual(['40', '+', 'new 39']);
});

it('an edit with many parts shows only the first parts, and the other parts on request', async () => {
  edited(
    Array.from({ length: 8 }, (_, n) => ({
      path: '/a.ts',
      oldText: '',
      newText: lines(5, `${n}`),
    })),
  );
  const page = await stage.visit();
  await changes(page).first().waitFor();
  expect(await changes(page).count()).toBe(3);
  await page.getByRole('button', { name: 'Show 5 more changes' }).click();
  await expect.poll(() => changes(page).count()).toBe(8);
  await page.getByRole('button', { name: 'Show less' }).click();
  await expect.poll(() => changes(page).count()).toBe(3);
});

it('an edit that a person has folded stays folded', async () => {
  edited([{ path: '/a.ts', oldText: 'two\n', newText: '2\n' }]);
  const page = await stage.visit();
  await changes(page).waitFor();
  await page.getByRole('button', { name: /^Edit a\.ts/ }).click();
  await expect.poll(() => changes(page).count()).toBe(0);
});
