import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

test('files that an answer names are read in the page, and what lies outside is not', async () => {
  stage.expectComplaints(/\/file\?path=/);
  const folder = await stage.project('shop', { 'src/config.ts': 'const a = 1;\nconst b = 2;\n' });
  await writeFile(join(folder, 'shot.png'), png);
  await symlink('/etc/passwd', join(folder, 'users'));
  stage.api.play([
    reply(toolUse('Read', { file_path: join(folder, 'src/config.ts') })),
    reply(
      'See [line two](src/config.ts:2), `config.ts`, [users](users), [gone](src/gone.ts) and ![shot](shot.png).',
    ),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('What is set there?');
  await session.untilSaid('line two');
  await session.untilEnded(1);
  const { answers, page } = session;
  const pane = page.getByRole('region', { name: /^File / });

  await answers.getByRole('button', { name: 'line two' }).click();
  await pane.getByText('const b = 2;').waitFor();
  expect(await pane.locator('[data-marked]').getAttribute('data-marked')).toBe('2-2');
  // Read by the tool, so that its bare name is known to be that file.
  await answers.getByRole('button', { name: 'config.ts', exact: true }).click();
  await pane.getByText('const a = 1;').waitFor();

  await answers.getByRole('button', { name: 'users' }).click();
  await pane.getByText('lies outside the project').waitFor();
  await answers.getByRole('button', { name: 'gone' }).click();
  await pane.getByText('There is no file src/gone.ts.').waitFor();
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'detached' });

  const image = answers.getByRole('img', { name: 'shot' });
  expect(await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  expect(await ada.tabs.getByRole('link').count()).toBe(1);
});

test('a file that is mentioned in the page reaches the model with what is in it', async () => {
  const folder = await stage.project('shop', {
    'src/config.ts': 'export const apples = 3;\n',
    'notes of mine.md': 'Pears are out.\n',
  });
  stage.api.play([reply('I have read them.')]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  const { page } = session;
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const files = page.getByRole('listbox', { name: 'Files' });

  await field.pressSequentially('Compare @conf');
  await files.getByRole('option', { name: /^config\.ts/ }).click();
  await page.keyboard.type('with @notes');
  await files.getByRole('option', { name: /^notes/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await session.untilSaid('I have read them.');

  const { messages } = stage.api.requests.findLast(({ kind }) => kind === 'main')!.body;
  const told = JSON.stringify(messages);
  for (const words of ['export const apples = 3;', 'Pears are out.', '@src/config.ts']) {
    expect(told.split(words)).toHaveLength(2);
  }
  const said = page.getByRole('article', { name: 'You' });
  await said.getByRole('button', { name: '@"notes of mine.md"' }).click();
  await page
    .getByRole('region', { name: /^File notes/ })
    .getByText('Pears are out.')
    .waitFor();
});
