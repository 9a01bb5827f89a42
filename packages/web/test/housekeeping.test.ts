/** Tests archiving, pinning and deleting sessions in the page. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone, press } from './controls/ways.ts';
import { pauseClock } from './paused-clock.ts';
import { storedKeys } from './stored-keys.ts';
import { openStage, otherSession, sessionId, stage } from './stage.ts';

openStage();

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Sessions', exact: true });
const tabs = (page: Page) => page.getByRole('navigation', { name: 'Open sessions' });
const section = (page: Page, name: string) => sidebar(page).getByRole('region', { name });
const startPage = (page: Page) => page.getByRole('main', { name: 'Start' });
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

/** Plays a server that carries out requests and reports the changes to the page. */
function obey(): void {
  stage.answer = (method, path) => {
    const [, id = '', command] = /^\/api\/session\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const mark = { archive: 'archived', unarchive: 'archived', pin: 'pinned', unpin: 'pinned' };
    if (path.startsWith('/api/project/files'))
      return { files: [{ path: 'app.ts', name: 'app.ts' }] };
    if (method === 'DELETE') remove(id);
    else if (command !== undefined && command in mark) {
      const name = mark[command as keyof typeof mark];
      change(id, { [name]: !command.startsWith('un') });
    }
    return undefined;
  };
}

function change(id: string, marks: { archived?: boolean; pinned?: boolean }): void {
  if (id !== sessionId) {
    const before = stage.others.find((one) => one.sessionId === id) ?? otherSession(id);
    return stage.change({ ...before, ...marks });
  }
  const session = { ...stage.info.session, ...marks };
  stage.sendInfo({ session });
  stage.send({ type: 'sessions:changed', sessions: [session] });
}

function remove(id: string): void {
  stage.others = stage.others.filter((one) => one.sessionId !== id);
  stage.send({ type: 'session:deleted', sessionId: id });
  stage.send({ type: 'sessions:changed', sessions: [], removed: [id] });
}

async function fromRow(page: Page, title: string, item: string): Promise<void> {
  await sidebar(page).getByRole('link', { name: title }).first().click({ button: 'right' });
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

it('pinned sessions are at the top; archived sessions are folded at the end, and a search finds them', async () => {
  stage.others = [
    otherSession('a', { title: 'Docs', pinned: true }),
    otherSession('b', { title: 'Attic', archived: true }),
    otherSession('c', { title: 'Bench' }),
  ];
  obey();
  const page = await stage.visit();
  await section(page, 'Pinned').getByRole('link', { name: /Docs/ }).waitFor();
  expect(
    await section(page, 'shop')
      .getByRole('link', { name: /Docs|Attic/ })
      .count(),
  ).toBe(0);
  const names = await sidebar(page).getByRole('region').all();
  const labels = await Promise.all(names.map(async (one) => one.getAttribute('aria-label')));
  expect(labels).toEqual(['Pinned', 'shop', 'Archived']);
  expect(await section(page, 'Archived').getByRole('link').count()).toBe(0);
  await sidebar(page).getByRole('searchbox').fill('attic');
  await section(page, 'Archived').getByRole('link', { name: /Attic/ }).waitFor();
  await sidebar(page).getByRole('searchbox').fill('');

  await fromRow(page, 'Bench', 'Pin');
  await section(page, 'Pinned').getByRole('link', { name: /Bench/ }).waitFor();
  await fromRow(page, 'Docs', 'Unpin');
  await section(page, 'shop').getByRole('link', { name: /Docs/ }).waitFor();
});

it('archiving a session closes its tab, and undo restores the session and the tab', async () => {
  obey();
  const page = await stage.visit();
  await fromRow(page, 'Fix the login', 'Archive');
  await startPage(page).waitFor();
  expect(await page.getByRole('region', { name: 'Recent sessions' }).count()).toBe(0);
  await sidebar(page)
    .getByRole('button', { name: /^Archived 1/ })
    .waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await composer(page).waitFor();
  await section(page, 'shop')
    .getByRole('link', { name: /Fix the login/ })
    .waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
});

it.each<[string, Parameters<typeof stage.visit>[0]]>([
  ['with a sidebar', { viewport: { width: 1400, height: 900 } }],
  ['on a phone', { ...phone }],
])('the toast covers nothing of the conversation (%s)', async (_, options) => {
  stage.others = [otherSession('a', { title: 'Docs' })];
  obey();
  const page = await stage.visit(options);
  await page.getByRole('button', { name: 'Commands' }).click();
  await page.getByRole('combobox').fill('Archive this');
  await page.keyboard.press('Enter');
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  await page.evaluate(() => window.history.back());
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  const [toast, shown] = [
    await undo.locator('..').boundingBox(),
    await page.getByRole('main').boundingBox(),
  ];
  const isBeside = toast!.x + toast!.width <= shown!.x || toast!.y + toast!.height <= shown!.y;
  expect(isBeside, JSON.stringify({ toast, shown })).toBe(true);
  await press(page, undo, 'hasTouch' in (options ?? {}) ? 'touch' : 'mouse');
  await undo.waitFor({ state: 'detached' });
});

it('the toast disappears after some time, but not while it has the pointer or the focus', async () => {
  stage.others = [otherSession('a', { title: 'Docs' })];
  obey();
  const page = await stage.visit();
  await fromRow(page, 'Docs', 'Archive');
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.hover();
  await pauseClock(page);
  await page.clock.runFor(20_000);
  expect(await undo.count()).toBe(1);
  await page.mouse.move(600, 500);
  await page.clock.runFor(7_000);
  expect(await undo.count()).toBe(1);
  await expect.poll(() => page.clock.runFor(2_000).then(() => undo.count())).toBe(0);
});

it('an archived session has a note above the composer, and can be restored there', async () => {
  stage.info.session.archived = true;
  obey();
  const page = await stage.visit();
  const note = page.getByText('This session is archived.');
  await note.waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Unarchive' }).click();
  await note.waitFor({ state: 'detached' });
  await expect
    .poll(() => composer(page).evaluate((one) => one === document.activeElement))
    .toBe(true);
});

it('if an action fails, the reason is shown until a person dismisses it', async () => {
  stage.others = [otherSession('a', { title: 'Docs' })];
  const message = 'The disk is full.';
  stage.refuse = (path) =>
    path.endsWith('/archive') ? { code: 'STORE_WRITE_FAILED', message } : undefined;
  const page = await stage.visit();
  await page.clock.install();
  await fromRow(page, 'Docs', 'Archive');
  await page.getByText(message).waitFor();
  await page.clock.runFor(60_000);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText(message).waitFor({ state: 'detached' });
  await section(page, 'shop').getByRole('link', { name: /Docs/ }).waitFor();
});

it('before deleting, the page asks and lists what stays; if deleting fails, the dialog stays open', async () => {
  stage.others = [otherSession('a', { title: 'Docs', cliType: 'demo' })];
  obey();
  const message = 'The disk is full.';
  let isFull = true;
  stage.refuse = (path) =>
    isFull && path === '/api/session/s1' ? { code: 'STORE_WRITE_FAILED', message } : undefined;
  const page = await stage.visit();
  await composer(page).fill('A thought about @app');
  await page.getByRole('option', { name: 'app.ts' }).click();
  const drafts = ['s1', 's1 folder', 's1 mentions'];
  await expect.poll(() => storedKeys(page, 'drafts')).toEqual(drafts);
  await fromRow(page, 'Fix the login', 'Delete…');
  const dialog = page.getByRole('dialog', { name: 'Delete this session?' });
  await dialog.getByText('Demo’s own copy stays on disk').waitFor();
  await dialog.getByText('Its agent is stopped first.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText(message).waitFor();
  isFull = false;
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.waitFor({ state: 'detached' });
  await startPage(page).waitFor();
  await page.getByText('“Fix the login” was deleted.').waitFor();
  await expect
    .poll(() =>
      sidebar(page)
        .getByRole('link', { name: /Fix the login/ })
        .count(),
    )
    .toBe(0);
  await expect.poll(() => storedKeys(page, 'drafts')).toEqual([]);
});

it('a session that another person deletes disappears from the tabs and from the page', async () => {
  stage.others = [otherSession('a', { title: 'Docs' })];
  const page = await stage.visit();
  await sidebar(page).getByRole('link', { name: /Docs/ }).dblclick();
  await page.getByRole('main', { name: 'Docs' }).waitFor();
  remove('a');
  await page.getByText('“Docs” was deleted.').waitFor();
  await expect.poll(() => tabs(page).getByRole('link', { name: /Docs/ }).count()).toBe(0);
  await expect.poll(() => page.getByRole('main', { name: 'Docs' }).count()).toBe(0);
});

it('a session that was deleted while the connection was lost disappears after the reconnect', async () => {
  const page = await stage.visit();
  const message = 'There is no session s1.';
  stage.refuse = (path) =>
    path.endsWith('/load') ? { code: 'SESSION_NOT_FOUND', message } : undefined;
  stage.hangUp();
  await startPage(page).waitFor();
  await page.getByText('was deleted.').waitFor();
});
