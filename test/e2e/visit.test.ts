import { testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ withKey: false });

test('a link lets a browser in, and leaves no token in the address', async () => {
  const ada = await stage.person();
  await ada.page.getByRole('heading', { name: 'What should be done?' }).waitFor();
  expect(ada.page.url()).toBe(`http://127.0.0.1:${stage.network.port}/`);
  await ada.page.reload();
  await ada.sidebar.waitFor();
});

test('a browser without the link is told where to find it', async () => {
  const ada = await stage.person();
  await ada.page.context().clearCookies();
  stage.expectComplaints(/401|403/);
  await ada.page.goto(new URL('/', ada.page.url()).href);
  await expect.poll(() => ada.page.locator('body').innerText()).toMatch(/link/);
  expect(await ada.sidebar.count()).toBe(0);
});

test('a newcomer gets from the empty page to an answer by keyboard alone', async () => {
  const folder = await stage.project('keyboard');
  const { page } = await stage.person();
  const { keyboard } = page;
  await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
  await keyboard.press('Alt+n');
  const dialog = page.getByRole('dialog', { name: 'New session' });
  const agent = (name: string) => dialog.getByRole('radio', { name });
  await dialog.getByText(/not signed in: set ANTHROPIC_API_KEY/).waitFor();
  expect(await agent('Demo').isChecked()).toBe(true);
  // The folder is asked for first; before it stand the choice of agent and a button to look for agents again.
  await keyboard.press('Shift+Tab');
  await keyboard.press('Shift+Tab');
  for (const [key, name] of [
    ['ArrowUp', 'Codex'],
    ['ArrowUp', 'Claude Code'],
    ['ArrowDown', 'Codex'],
    ['ArrowDown', 'Demo'],
  ] as const) {
    await keyboard.press(key);
    expect(await agent(name).isChecked()).toBe(true);
  }
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.type(folder);
  await keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.and(page.locator(':focus')).waitFor();
  await keyboard.type('explain');
  await keyboard.press('Enter');
  await page
    .getByRole('article', { name: 'Agent' })
    .filter({ hasText: 'Demo, recorded' })
    .waitFor();
});

test('Claude Code without a key says how to get in', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('no-key') });
  await session.send('Hello?');
  await session.untilEnded(1);
  const trouble = await session.failureOf('last').innerText();
  expect(trouble).toContain('Not logged in. Run claude in a terminal and sign in, or set');
});

testAtLength('a session is renamed, found and opened again by keyboard alone', async () => {
  const ada = await stage.person();
  const { page, tabs } = ada;
  const session = await ada.startSession({ folder: await stage.project('named'), agent: 'Demo' });
  await session.choose('Pace', 'Instant');
  await session.send('explain');
  await session.untilEnded(1);
  await page.getByRole('button', { name: 'Session', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  await page.getByRole('textbox', { name: 'Title' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('A better name');
  await page.keyboard.press('Enter');
  await tabs.getByRole('link', { name: 'A better name' }).waitFor();

  await page.keyboard.press('Alt+w');
  await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).waitFor();
  await page.keyboard.type('better');
  await page.getByRole('option', { name: /A better name/ }).waitFor();
  await page.keyboard.press('Enter');
  await session.untilEnded(1);
  expect(await session.prompts.allInnerTexts()).toEqual(['explain']);
});

test.for([
  { what: 'that does not exist', folder: (root: string) => `${root}/nowhere`, says: /There is no/ },
  { what: 'outside the roots', folder: () => '/etc', says: /outside/ },
])('a folder $what is refused in the dialog, with what to do', async ({ folder, says }) => {
  const root = await stage.project('.');
  const { page, sidebar } = await stage.person();
  stage.expectComplaints(/status of 40[03]/);
  await sidebar.getByRole('button', { name: 'New session' }).click();
  const dialog = page.getByRole('dialog', { name: 'New session' });
  await dialog.getByRole('radio', { name: 'Demo' }).check();
  await dialog
    .getByRole('combobox', { name: 'Project folder' })
    .fill(folder(root.replace(/\/\.$/, '')));
  await dialog.getByRole('button', { name: 'Start' }).click();
  expect(await dialog.getByRole('alert').innerText()).toMatch(says);
});

testAtLength('the address of a session that does not exist says so', async () => {
  const { page } = await stage.person();
  stage.expectComplaints(/status of 404/);
  await page.goto(new URL('/session/nobody', page.url()).href);
  await page.getByRole('heading', { name: 'This session could not be opened' }).waitFor();
  expect(await page.getByRole('alert').innerText()).toContain('SESSION_NOT_FOUND');
});

test('a page that was open while the server got a new version loads itself again and goes on', async () => {
  const { page, sidebar } = await stage.person();
  const part = '**/assets/NewSession-*.js';
  stage.expectComplaints(/404|Failed to fetch dynamically imported|preload/);
  await page.route(part, (route) => route.fulfill({ status: 404 }));
  const again = page.waitForEvent('load');
  await sidebar.getByRole('button', { name: 'New session' }).click();
  await again;
  await page.unroute(part);
  await page.reload();
  await sidebar.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
  await expect.poll(async () => page.getByRole('radio', { name: 'Demo' }).count()).toBe(1);
});

test('a part of the page that cannot be fetched leaves no empty window', async () => {
  const { page, sidebar } = await stage.person();
  stage.expectComplaints(/ERR_|Failed to fetch|Failed to load|Unable to preload/);
  stage.network.down();
  // With the server there again before this is asked, the page would load itself.
  const unreachable = page.waitForEvent('requestfailed', (asked) =>
    asked.url().endsWith('/healthz'),
  );
  await sidebar.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('heading', { name: 'This page came to a stop' }).waitFor();
  await unreachable;
  stage.network.up();
  await page.getByRole('button', { name: 'Load again' }).click();
  await sidebar.waitFor();
  expect(await page.getByRole('heading', { name: 'What should be done?' }).isVisible()).toBe(true);
});

test('on a phone the sessions are in a drawer', async () => {
  const folder = await stage.project('phone');
  const ada = await stage.person();
  await (await ada.startSession({ folder, agent: 'Demo' })).send('explain to a phone');
  await ada.page.setViewportSize({ width: 390, height: 780 });
  await ada.sidebar.waitFor({ state: 'hidden' });
  await ada.page.getByRole('button', { name: 'Sessions', exact: true }).click();
  const drawer = ada.page.getByRole('dialog', { name: 'Sessions' });
  await drawer.getByRole('link', { name: 'explain to a phone' }).click();
  await drawer.waitFor({ state: 'detached' });
  const width = await ada.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBe(390);
});
