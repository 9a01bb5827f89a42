import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ withKey: false });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

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
