/** Tests the dialog that shows how a session's work tree differs from its last commit. */
import type { SessionDiff } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { sendCommand } from './page-command.ts';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

let answer: Partial<SessionDiff>;

const changed = {
  path: 'src/a.ts',
  change: 'modified' as const,
  added: 1,
  removed: 1,
  hunks: [
    { oldStart: 41, newStart: 41, lines: [' one', '-two', '+TWO \u202E', ' three'] },
    { oldStart: 90, newStart: 90, lines: [' ninety'] },
  ],
};

beforeEach(() => {
  answer = {};
  stage.answer = (_, path) =>
    path === `/api/session/${sessionId}/diff`
      ? {
          root: '/code/shop',
          commit: '0123456789abcdef',
          branch: 'main',
          files: [
            changed,
            { path: 'b.png', change: 'untracked', hunks: [], unshown: 'binary' },
            {
              path: 'run.sh',
              change: 'modified',
              oldMode: '100644',
              newMode: '100755',
              added: 0,
              removed: 0,
              hunks: [],
            },
          ],
          ...answer,
        }
      : undefined;
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Changes' });

it('/diff shows each changed file with its numbered lines, and is not sent to the agent', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/diff');
  await dialog(page).getByText('3 files differ from commit 0123456789 of branch main.').waitFor();
  const rows = dialog(page)
    .getByRole('region', { name: /^Changes to src\/a\.ts/ })
    .getByRole('row');
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  expect(cells).toEqual([
    ['41', ' ', 'one'],
    ['42', '−', 'two'],
    ['42', '+', expect.stringMatching(/TWO .*U\+202E/)],
    ['43', ' ', 'three'],
    ['⋯'],
    ['90', ' ', 'ninety'],
  ]);
  await dialog(page).getByText('Not text.').waitFor();
  await dialog(page).getByText('Was a plain file, is a program.').waitFor();
  expect(stage.requests.filter(({ path }) => path.endsWith('/send'))).toEqual([]);
});

it('the session’s menu opens the changes, with the number of files that are left out', async () => {
  answer = { unlisted: 7, hidden: 2 };
  const page = await stage.visit();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Changes…' }).click();
  await dialog(page).getByText('7 more may differ: they were not compared.').waitFor();
  await dialog(page).getByText('2 more may differ and must not be shown here.').waitFor();
});

it('if many files have changed, all of them are closed at first, and each can be opened', async () => {
  const files = Array.from({ length: 12 }, (_, n) => ({ ...changed, path: `f${n}.ts` }));
  answer = { files };
  const page = await stage.visit();
  await sendCommand(page, '/diff');
  const file = dialog(page).getByRole('button', { name: 'f3.ts' });
  await file.waitFor();
  expect(await dialog(page).getByRole('region').count()).toBe(0);
  await file.click();
  await dialog(page)
    .getByRole('region', { name: /^Changes to f3\.ts/ })
    .waitFor();
  expect(await dialog(page).getByRole('region').count()).toBe(1);
});

it('the files are compared again when the person requests it', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/diff');
  await dialog(page).getByText('src/a.ts').waitFor();
  answer = { files: [] };
  await dialog(page).getByRole('button', { name: 'Compare again' }).click();
  await dialog(page).getByText('No file differs from commit 0123456789 of branch main.').waitFor();
});
