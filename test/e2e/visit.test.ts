import { testAtLength } from '@liminal/testkit/at-length';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ withKey: false });

/**
 * Starts a server other than Liminal's on the same host, for example a dev server. The server records the cookies that
 * browsers send.
 */
async function neighbour(): Promise<{ url: string; cookies: string[] }> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.cookie !== undefined) cookies.push(request.headers.cookie);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Neighbour</title><p>Hello.</p>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, cookies };
}

test('SAFE: if a browser sends its cookies to a server on another port of the same host, these cookies give no access to Liminal', async () => {
  const { page } = await stage.person();
  const { url, cookies } = await neighbour();
  stage.expectComplaints(/foreign request/);
  await page.goto(url);
  await page.getByText('Hello.').waitFor();
  const kept = await page.evaluate(() => Object.entries(localStorage));
  expect(kept).toEqual([]);
  // The browser does send the cookie, because cookies do not depend on the port.
  const [cookie = ''] = cookies;
  expect(cookie).toContain('liminal_');
  const { origin } = stage.server;
  for (const path of ['/api/agents', '/api/projects', '/metrics']) {
    expect((await fetch(`${origin}${path}`, { headers: { cookie } })).status).toBe(401);
  }
  const headers = { cookie, origin, 'content-type': 'application/json' };
  const create = { method: 'POST', headers, body: '{"cliType":"demo","projectDir":"/"}' };
  expect((await fetch(`${origin}/api/session/create`, create)).status).toBe(401);
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`, { headers } as never);
  const [event] = (await Promise.race([once(socket, 'open'), once(socket, 'error')])) as [Event];
  expect(event.type).toBe('error');
  // The server's own page still has access.
  await page.goBack();
  await page.getByRole('navigation').first().waitFor();
});

test('SAFE: the printed link signs in one browser, is removed from the browser’s history, and, when opened again, shows that it was used', async () => {
  const person = await stage.person({});
  const context = person.page.context();
  await context.clearCookies();
  await person.page.evaluate(() => localStorage.clear());
  const page = await context.newPage();
  // After the sign-in, the browser opens the requested address. Only the browser knows the fragment of this address.
  const wanted = '/session/not-there#item-7';
  await page.goto(new URL(wanted, stage.server.printedLink).href);
  await page.getByRole('heading', { name: 'Open the link from the terminal' }).waitFor();
  await page.goto(stage.server.printedLink);
  await page.getByRole('navigation').first().waitFor();
  const { pathname, search, hash } = new URL(page.url());
  expect(pathname + hash).toBe(wanted);
  expect(search).toBe('');
  await page.goto(new URL('/', page.url()).href);
  const cdp = await context.newCDPSession(page);
  const history = (await cdp.send('Page.getNavigationHistory')) as { entries: { url: string }[] };
  const { code, token } = {
    code: new URL(stage.server.printedLink).searchParams.get('code')!,
    token: stage.server.token,
  };
  for (const { url } of history.entries) {
    expect(url).not.toContain(code);
    expect(url).not.toContain(token);
  }
  await page.reload();
  await page.getByRole('heading', { name: 'What do you want to build?' }).waitFor();
  await context.clearCookies();
  // A browser without the link shows where to find the link.
  await page.goto(new URL('/', page.url()).href);
  await expect.poll(() => page.locator('body').innerText()).toMatch(/link/);
  expect(await page.getByRole('navigation').count()).toBe(0);
  await page.goto(stage.server.printedLink);
  await page.getByText('This link has been used').waitFor();
  // A request that was in progress during the sign-out is also rejected.
  stage.expectComplaints(/401|403|404|Refused to apply style/);
});

test('a new user can get from the empty page to an answer with only the keyboard', async () => {
  const folder = await stage.project('keyboard');
  const { page } = await stage.person({});
  const { keyboard } = page;
  await page.getByRole('heading', { name: 'What do you want to build?' }).waitFor();
  await keyboard.press('Alt+n');
  const dialog = page.getByRole('dialog', { name: 'New session' });
  const agent = (name: string) => dialog.getByRole('radio', { name });
  await dialog.getByText(/^Not set up: Claude Code, Codex/).waitFor();
  expect(await agent('Demo').isChecked()).toBe(true);
  await dialog
    .getByRole('combobox', { name: 'Project folder' })
    .and(page.locator(':focus'))
    .waitFor();
  // The folder field has the focus. Before this field is the list of agents, in which agents that are not set up are
  // folded.
  await keyboard.press('Shift+Tab');
  await keyboard.press('Enter');
  await dialog.getByText(/Not signed in\. Run .*claude in a terminal/).waitFor();
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
  // Press the key twice more: for the fold, and for the button in the fold that checks for agents again.
  await keyboard.press('Tab');
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

testAtLength('if Claude Code has no key, the page shows how to sign in', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('no-key') });
  await session.send('Hello?');
  await session.untilEnded(1);
  const trouble = await session.failureOf('last').innerText();
  expect(trouble).toContain('Not logged in. Run claude in a terminal and sign in, or set');
});

testAtLength(
  'a session can be renamed, found and opened again with only the keyboard',
  async () => {
    const ada = await stage.person();
    const { page, tabs } = ada;
    const session = await ada.startSession({ folder: await stage.project('named'), agent: 'Demo' });
    await session.choose('Speed', 'Instant');
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
    await page.getByRole('heading', { name: 'What do you want to build?' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.keyboard.type('better');
    await page.getByRole('option', { name: /A better name/ }).waitFor();
    await page.keyboard.press('Enter');
    await session.untilEnded(1);
    expect(await session.prompts.allTextContents()).toEqual(['explain']);
  },
);

testAtLength(
  'at the address of an unknown session, the page shows that the session does not exist',
  async () => {
    const { page } = await stage.person();
    stage.expectComplaints(/status of 404/);
    await page.goto(new URL('/session/nobody', page.url()).href);
    await page.getByRole('heading', { name: 'This session could not be opened' }).waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('SESSION_NOT_FOUND');
  },
);

test('a folder that is not allowed is rejected with advice', async () => {
  const { page, sidebar } = await stage.person({});
  stage.expectComplaints(/status of 40[03]/);
  await sidebar.getByRole('button', { name: 'New session' }).click();
  const dialog = page.getByRole('dialog', { name: 'New session' });
  await dialog.waitFor();
  await expect.poll(async () => page.getByRole('radio', { name: 'Demo' }).count()).toBe(1);

  const root = (await stage.project('.')).replace(/\/\.$/, '');
  await dialog.getByRole('radio', { name: 'Demo' }).check();
  for (const [folder, says] of [
    [`${root}/nowhere`, 'There is no'],
    ['/etc', 'outside'],
  ] as const) {
    await dialog.getByRole('combobox', { name: 'Project folder' }).fill(folder);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('alert').filter({ hasText: says }).waitFor();
  }
});

testAtLength('on a phone the sessions are in a drawer', async () => {
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
