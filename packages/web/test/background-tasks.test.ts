import { expect, it } from 'vitest';
import { begun } from './items.ts';
import { shareStage, stage } from './stage.ts';

const task = (id: string, progress: string) => ({
  taskId: id,
  title: `npm run ${id}`,
  kind: 'command' as const,
  startedAt: '2026-01-01T00:00:00.000Z',
  progress,
});

shareStage(() => {
  stage.history = begun('Start them');
  stage.info = {
    ...stage.info,
    tasks: [
      task('build', '\u001B[32m3 of 8\u001B[0m'),
      { ...task('docs', 'Reading notes.txt'), title: 'Inspect the notes', kind: 'agent' },
    ],
  };
});

it.each([
  { width: 1000, height: 700 },
  { width: 390, height: 700 },
])('background tasks show their progress, as plain text: %j', async (viewport) => {
  const page = await stage.visit({ viewport });
  const list = page.getByRole('list', { name: 'In the background' });
  await list.getByText('3 of 8', { exact: true }).waitFor();
  await list.getByText('Reading notes.txt').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
});

it('the whole output of a background command opens beside the conversation', async () => {
  const path = '/tmp/claude-0/-code-shop/s1/tasks/build.output';
  stage.info = { ...stage.info, tasks: [{ ...task('build', '3 of 8'), outputFile: path }] };
  stage.answer = (_, asked) =>
    asked.includes('/file?')
      ? {
          kind: 'text',
          path,
          size: 12,
          modifiedAt: '2026-01-01T00:00:00.000Z',
          text: 'line 1\nline 2',
          isCut: false,
        }
      : undefined;
  const page = await stage.visit();
  const list = page.getByRole('list', { name: 'In the background' });
  await list.getByRole('button', { name: 'Output' }).click();
  await page.getByRole('region', { name: 'Content' }).getByText('line 2').waitFor();
});
