import { existsSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { answer, reply, toolUse } from '@liminal/testkit';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ codex: {} });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

const base64 = png.toString('base64');

/** Chooses a file with the paper clip, as a user does. */
async function attach(page: Page, name: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles({ name, mimeType: 'image/png', buffer: png });
  await page.getByRole('button', { name: `Show ${name}` }).waitFor();
}

/** Returns the file behind an image in the conversation, saved as a user saves it. */
async function saved(page: Page, within: Locator, name: string): Promise<Buffer> {
  await within.getByRole('button', { name: `Show ${name}` }).click();
  const view = page.getByRole('dialog', { name });
  const saving = page.waitForEvent('download');
  await view.getByRole('link', { name: 'Download' }).click();
  const file = await (await saving).createReadStream();
  await page.keyboard.press('Escape');
  await view.waitFor({ state: 'detached' });
  return Buffer.concat(await file.toArray());
}

/**
 * Both agents. Each has its model, a function that returns the model's last request, and the form of an image in this
 * request.
 */
const agents = {
  'Claude Code': {
    play: () => stage.api.play([reply('Seen.'), reply('Seen, too.')]),
    asked: () => stage.api.requests.findLast(({ kind }) => kind === 'main')?.body.messages,
    image: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
  },
  Codex: {
    play: () => stage.codexApi.play([answer('Seen.'), answer('Seen, too.')]),
    asked: () => stage.codexApi.requests.at(-1)?.body.input,
    image: { type: 'input_image', image_url: `data:image/png;base64,${base64}` },
  },
};

test.each(Object.entries(agents))(
  'an image reaches the model of %s unchanged, even if the server dies before the image is sent, and is still shown after a reload',
  async (agent, { play, asked, image }) => {
    play();
    const ada = await stage.person();
    const session = await ada.startSession({ folder: await stage.project(agent), agent });
    const { page } = ada;
    const seen = (words: string, images: number) => {
      const parts = [asked()].flat().flatMap(contentOf);
      expect(parts).toContainEqual(expect.objectContaining(image));
      expect(JSON.stringify(parts)).toContain(words);
      expect(JSON.stringify(parts).split(base64)).toHaveLength(images + 1);
    };
    await attach(page, 'first.png');
    await session.send('What is it?');
    await session.untilEnded(1);
    seen('What is it?', 1);
    expect((await saved(page, session.prompts.first(), 'first.png')).equals(png)).toBe(true);

    stage.expectComplaints(away);
    await stage.server.crash();
    await attach(page, 'second.png');
    await session.send('And that?');
    await page.getByText('Sends when you are back online').waitFor();
    await stage.server.restart();
    await session.untilEnded(2);
    seen('And that?', 2);
    await page.reload();
    await session.untilEnded(2);
    const { prompts } = session;
    await expect.poll(() => prompts.allTextContents()).toEqual(['What is it?', 'And that?']);
    expect((await saved(page, prompts.last(), 'second.png')).equals(png)).toBe(true);
  },
);

const contentOf = (message: unknown): unknown[] =>
  [(message as { content?: unknown } | undefined)?.content].flat();

test('files that an answer mentions are shown in the page, but files outside of the project are not; a mentioned file reaches the model with its content', async () => {
  stage.expectComplaints(/\/file\?path=/);
  const { ada, session, folder, turns } = await stage.claude();
  await stage.project(basename(folder), {
    'src/config.ts': 'const a = 1;\nconst b = 2;\n',
    'notes of mine.md': 'Pears are out.\n',
    'src/apples.ts': 'export const apples = 3;\n',
  });
  await writeFile(join(folder, 'shot.png'), png);
  await symlink('/etc/passwd', join(folder, 'users'));
  stage.api.play([
    reply(toolUse('Read', { file_path: join(folder, 'src/config.ts') })),
    reply(
      'See [line two](src/config.ts:2), `config.ts`, [users](users), [gone](src/gone.ts) and ![shot](shot.png).',
    ),
    reply('I have read them.'),
  ]);
  const tabs = await ada.tabs.getByRole('link').count();
  await session.send('What is set there?');
  await session.untilAnswer('line two');
  await session.untilEnded(turns + 1);
  const { answers, page } = session;
  const pane = page.getByRole('region', { name: /^File / });

  await answers.getByRole('button', { name: 'line two' }).click();
  await pane.getByText('const b = 2;').waitFor();
  expect(await pane.locator('[data-marked]').getAttribute('data-marked')).toBe('2-2');
  // A tool has read the file. Therefore the file's name in the answer is a link to the file, even without a path.
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
  expect(await ada.tabs.getByRole('link').count()).toBe(tabs);

  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const files = page.getByRole('listbox', { name: 'Files' });

  await field.pressSequentially('Compare @appl');
  await files.getByRole('option', { name: /^apples\.ts/ }).click();
  await page.keyboard.type('with @notes');
  await files.getByRole('option', { name: /^notes/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await session.untilAnswer('I have read them.');

  await session.untilEnded(turns + 2);

  const { messages } = stage.api.requests.findLast(({ kind }) => kind === 'main')!.body;
  const told = JSON.stringify(messages);
  for (const words of ['export const apples = 3;', 'Pears are out.', '@src/apples.ts']) {
    expect(told.split(words)).toHaveLength(2);
  }
  const said = page.getByRole('article', { name: 'You' });
  await said.getByRole('button', { name: '@"notes of mine.md"' }).click();
  await page
    .getByRole('region', { name: /^File notes/ })
    .getByText('Pears are out.')
    .waitFor();
});

test('while edits are accepted, no permission is requested; files that Claude Code edited in three turns are restored to their state before the second turn, and the conversation shows this', async () => {
  const folder = await stage.project('rewind');
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  const [a, b] = ['a.txt', 'b.txt'].map((name) => join(folder, name)) as [string, string];
  const write = (path: string, content: string) =>
    reply(toolUse('Write', { file_path: path, content }));
  stage.api.play([
    write(a, 'one\n'),
    reply('Edited 1.'),
    write(a, 'two\n'),
    write(b, 'new\n'),
    reply('Edited 2.'),
    write(a, 'three\n'),
    reply('Edited 3.'),
    reply('And on.'),
  ]);
  await session.choose('Permissions', 'Accept edits');
  for (const n of [1, 2, 3]) {
    await session.send(`Edit ${n}.`);
    await session.untilAnswer(`Edited ${n}.`);
    await session.untilEnded(n);
  }
  expect(readFileSync(a, 'utf8')).toBe('three\n');

  const second = session.turns.nth(1);
  await second.hover();
  await second.getByRole('button', { name: 'Restore files to before this turn' }).click();
  const dialog = ada.page.getByRole('dialog', { name: 'Restore files' });
  await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toEqual(['a.txt', 'b.txt']);
  expect(readFileSync(a, 'utf8')).toBe('three\n');
  await dialog.getByRole('button', { name: 'Restore 2 files' }).click();
  await dialog.waitFor({ state: 'detached' });

  await session.conversation
    .getByText(/^Files were changed back .*“Edit 2\.”: a\.txt, b\.txt\./)
    .waitFor();
  expect([readFileSync(a, 'utf8'), existsSync(b)]).toEqual(['one\n', false]);
  await session.untilEnded(4);
  await session.send('Go on.');
  await session.untilAnswer('And on.');
  await ada.page.reload();
  await session.untilEnded(5);
  expect(await session.prompts.allTextContents()).toEqual([
    'Edit 1.',
    'Edit 2.',
    'Edit 3.',
    'Go on.',
  ]);
  await session.conversation.getByText(/^Files were changed back/).waitFor();
});
