import { answer, reply } from '@liminal/testkit';
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

/** Chooses a file as the paper clip lets people do. */
async function attach(page: Page, name: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles({ name, mimeType: 'image/png', buffer: png });
  await page.getByRole('button', { name: `Show ${name}` }).waitFor();
}

/** The file behind an image of the conversation, saved as a person does it. */
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

test('an image arrives whole, with a server that dies before it is sent, and is there after a reload', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('image'), agent: 'Demo' });
  const { page } = ada;
  await session.choose('Pace', 'Instant');
  await attach(page, 'first.png');
  await session.send('explain');
  await session.untilEnded(1);
  expect((await saved(page, session.prompts.first(), 'first.png')).equals(png)).toBe(true);

  stage.expectComplaints(away);
  await stage.server.crash();
  await attach(page, 'second.png');
  await session.send('plan');
  await page.getByText('Will be sent when the server is back').waitFor();
  await stage.server.restart();
  await session.untilEnded(2);
  await page.reload();
  await session.untilEnded(2);
  const prompts = session.prompts;
  await expect.poll(() => prompts.allInnerTexts()).toEqual(['explain', 'plan']);
  expect((await saved(page, prompts.last(), 'second.png')).equals(png)).toBe(true);
});

test.each([
  {
    agent: 'Claude Code',
    play: () => stage.api.play([reply('Seen.')]),
    asked: () => stage.api.requests.findLast(({ kind }) => kind === 'main')?.body.messages,
    image: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
  },
  {
    agent: 'Codex',
    play: () => stage.codexApi.play([answer('Seen.')]),
    asked: () => stage.codexApi.requests.at(-1)?.body.input,
    image: { type: 'input_image', image_url: `data:image/png;base64,${base64}` },
  },
])(
  'an image reaches the model of $agent byte for byte, and is shown with its message',
  async ({ agent, play, asked, image }) => {
    play();
    const ada = await stage.person();
    const session = await ada.startSession({ folder: await stage.project(agent), agent });
    await attach(ada.page, 'screen.png');
    await session.send('What is it?');
    await session.untilEnded(1);
    const parts = [asked()].flat().flatMap(contentOf);
    expect(parts).toContainEqual(expect.objectContaining(image));
    expect(JSON.stringify(parts)).toContain('What is it?');
    await ada.page.reload();
    await session.untilEnded(1);
    expect((await saved(ada.page, session.prompts.first(), 'screen.png')).equals(png)).toBe(true);
  },
);

const contentOf = (message: unknown): unknown[] =>
  [(message as { content?: unknown } | undefined)?.content].flat();
