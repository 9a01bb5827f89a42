import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { message, turn } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage();

const done = { status: 'complete', endedAt: 1 } as const;
let files: string[];

beforeEach(() => {
  files = ['/code/shop/src/cart.ts', '/elsewhere/notes.md'];
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
  stage.history = {
    entries: [
      message('u', 'Tidy up', { origin: 'user', status: 'complete' }),
      message('n', 'A word of the system.', {
        turnId: 't2',
        origin: 'system',
        status: 'complete',
      }),
    ],
    turns: [turn('t1', done), turn('t2', { ...done, finishReason: 'rewind', trigger: 'agent' })],
    cursor: 't2:0',
    hasMore: false,
  };
  stage.answer = (_, path) => {
    if (path.endsWith('/rewind')) return { files, insertions: 3, deletions: 12 };
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    return path === '/api/agents' ? { agents: [{ ...demo, rewinds: true }] } : undefined;
  };
});

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const ask = (page: Page) => button(page, 'Restore files to before this turn').click();
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Restore files' });
const asked = () =>
  stage.requests.flatMap(({ path, body }) => (path.endsWith('/rewind') ? [body] : []));

it('files are changed back when the person has confirmed the list of files', async () => {
  const page = await stage.visitShared();
  await ask(page);
  const list = dialog(page).getByRole('listitem');
  await expect.poll(() => list.allInnerTexts()).toEqual(['src/cart.ts', '/elsewhere/notes.md']);
  await dialog(page).getByText('+3 −12').waitFor();
  expect(asked()).toEqual([{ turnId: 't1', dryRun: true }]);

  await button(page, 'Restore 2 files').click();
  await dialog(page).waitFor({ state: 'detached' });
  expect(asked().slice(1)).toEqual([{ turnId: 't1' }]);
});

it('if the dialog is cancelled, or if nothing differs, no file is changed', async () => {
  const page = await stage.visitShared();
  await ask(page);
  await button(page, 'Restore 2 files').waitFor();
  await page.keyboard.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });

  files = [];
  await ask(page);
  await dialog(page).getByText('Nothing to restore.').waitFor();
  expect(await button(page, /^Restore \d/).count()).toBe(0);
  await dialog(page).getByText('Close', { exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  expect(asked()).toEqual(Array.from({ length: 2 }, () => ({ turnId: 't1', dryRun: true })));
});

testAtLength(
  'if the server refuses, the reason is shown, both before and after the confirmation',
  async () => {
    const page = await stage.visitShared();
    await ask(page);
    await button(page, 'Restore 2 files').waitFor();
    const code = 'NO_CHECKPOINT';
    stage.refuse = (path) =>
      path.endsWith('/rewind') ? { code, message: 'There are no copies.' } : undefined;
    await button(page, 'Restore 2 files').click();
    await dialog(page).getByRole('alert').getByText('There are no copies.').waitFor();
    await button(page, 'Cancel').click();
    await ask(page);
    await dialog(page).getByRole('alert').getByText('There are no copies.').waitFor();
  },
);

it('changing files back is offered only for turns that a person began, and only if the agent supports it', async () => {
  const page = await stage.visitShared();
  await button(page, 'Restore files to before this turn').waitFor();
  // A turn of the server shows only its message, without buttons.
  await expect
    .poll(() => page.locator('[data-turn-id="t2"]').innerText())
    .toBe('A word of the system.');
  stage.answer = () => undefined;
  await page.goto(new URL(`/session/${sessionId}`, page.url()).href);
  await page.reload();
  await page.getByText('Tidy up').waitFor();
  expect(await button(page, /^Restore/).count()).toBe(0);
});
