import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { past } from './controls/scene.ts';
import { phone } from './controls/ways.ts';
import { message } from './items.ts';
import { png } from './png.ts';
import { openStage, otherSession, sessionId, stage } from './stage.ts';

openStage(() => {
  stage.history = past;
  stage.others = [otherSession('o1')];
  stage.answer = (_, path) =>
    path.startsWith(`/api/session/${sessionId}/file?`)
      ? { kind: 'text', path: '/code/shop/src/a.ts', text: 'let a = 1;', size: 10 }
      : undefined;
});

/** Opens the start page, and then the session by its link, so that Back has a page to return to. */
async function visit(options = phone): Promise<Page> {
  const page = await stage.visit(options, '/');
  await page.getByRole('main').getByRole('link', { name: 'Fix the login' }).click();
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  return page;
}

const at = (page: Page) => new URL(page.url()).pathname;
const session = `/session/`;
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });

it.each<[string, (page: Page) => Promise<void>, (page: Page) => ReturnType<typeof dialog>]>([
  [
    'the drawer',
    (page) => page.getByRole('button', { name: 'Sessions' }).tap(),
    (page) => dialog(page, 'Sessions'),
  ],
  [
    'the palette',
    (page) => page.getByRole('button', { name: /^Commands/ }).tap(),
    (page) => dialog(page, 'Commands'),
  ],
  [
    'the dialog for a new session',
    (page) => page.getByRole('button', { name: /^New session/ }).tap(),
    (page) => dialog(page, 'New session'),
  ],
  [
    'a menu',
    (page) => page.getByRole('button', { name: 'Session', exact: true }).tap(),
    (page) => page.getByRole('menu'),
  ],
  [
    'the menu of tabs',
    (page) => page.getByRole('button', { name: /Fix the login/ }).tap(),
    (page) => page.getByRole('menu'),
  ],
])('Back closes %s, then leaves the session', async (_, open, layer) => {
  const page = await visit();
  const address = at(page);
  expect(address).toContain(session);
  await open(page);
  await layer(page).waitFor();
  await page.goBack();
  await layer(page).waitFor({ state: 'detached' });
  expect(at(page)).toBe(address);
  await page.goBack();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  expect(at(page)).toBe('/');
});

it('Back closes files and images; the topmost layer is closed first', async () => {
  const image = stage.storeBlob(png(4, 4), 'image/png');
  stage.history = {
    ...past,
    entries: [
      message('u', 'See it', {
        origin: 'user',
        status: 'complete',
        blocks: [{ type: 'image', uri: image, mimeType: 'image/png', name: 'shot.png' }],
      }),
      message('a', 'It is in [a.ts](src/a.ts).', { status: 'complete' }),
    ],
  };
  const page = await visit();
  const address = at(page);
  await page.getByRole('button', { name: 'Show shot.png' }).tap();
  await dialog(page, 'shot.png').waitFor();
  await page.goBack();
  await dialog(page, 'shot.png').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /a\.ts/ }).tap();
  await dialog(page, /^File/).waitFor();
  await page.goBack();
  await dialog(page, /^File/).waitFor({ state: 'detached' });
  expect(at(page)).toBe(address);

  await page.getByRole('button', { name: 'Session', exact: true }).tap();
  await page.getByRole('menuitem', { name: 'Rename' }).tap();
  await dialog(page, 'Rename the session').waitFor();
  await page.goBack();
  await dialog(page, 'Rename the session').waitFor({ state: 'detached' });
  expect(at(page)).toBe(address);
});

it('a layer that is closed by other means than Back leaves no history entry', async () => {
  const page = await visit();
  const address = at(page);
  const entries = () => page.evaluate(() => history.length);
  for (let round = 0; round < 3; round++) {
    await page.getByRole('button', { name: /^New session/ }).tap();
    await dialog(page, 'New session').getByRole('button', { name: 'Cancel' }).tap();
    await dialog(page, 'New session').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => history.state)).toBeNull();
  }
  expect(at(page)).toBe(address);
  // The entries are: the first entry of the profile, the start page, the session, and the forward entry of the last
  // dialog.
  expect(await entries()).toBeLessThanOrEqual(4);
  await page.goBack();
  await page.getByRole('main', { name: 'Start' }).waitFor();
});

it('if a session is chosen in the drawer, Back leads to the previous session in one step', async () => {
  const page = await visit();
  const address = at(page);
  await page.getByRole('button', { name: 'Sessions' }).tap();
  await dialog(page, 'Sessions').getByRole('link', { name: 'Session o1' }).tap();
  await page.waitForURL(/\/session\/o1$/);
  await dialog(page, 'Sessions').waitFor({ state: 'detached' });
  await page.goBack();
  await page.waitForURL((url) => url.pathname === address);
  await page.getByRole('main', { name: 'Fix the login' }).waitFor();
  await page.goBack();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await page.goForward();
  await page.waitForURL((url) => url.pathname === address);
});

it('if the page is reloaded while a layer is open, it shows the session, and Back leads to the start page in one step', async () => {
  const page = await visit();
  const address = at(page);
  await page.getByRole('button', { name: 'Sessions' }).tap();
  await dialog(page, 'Sessions').waitFor();
  await page.reload();
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  await expect.poll(() => page.evaluate(() => history.state)).toBeNull();
  expect(at(page)).toBe(address);
  await page.goBack();
  await page.getByRole('main', { name: 'Start' }).waitFor();
});

it('in a wide window, Back also closes the palette', async () => {
  const page = await visit({ viewport: { width: 1400, height: 900 } });
  const address = at(page);
  await page.keyboard.press('Control+k');
  await dialog(page, 'Commands').waitFor();
  await page.goBack();
  await dialog(page, 'Commands').waitFor({ state: 'detached' });
  expect(at(page)).toBe(address);
});
