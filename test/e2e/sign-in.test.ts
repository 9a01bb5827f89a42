import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

/** Another server on our host, as a dev server is one: it notes the cookies that browsers bring. */
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

test('SAFE: what a server on another port of our host is sent opens nothing here', async () => {
  const { page } = await stage.person();
  const { url, cookies } = await neighbour();
  stage.expectComplaints(/foreign request/);
  await page.goto(url);
  await page.getByText('Hello.').waitFor();
  const kept = await page.evaluate(() => Object.entries(localStorage));
  expect(kept).toEqual([]);
  // The browser does send it: cookies do not know of ports.
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
  // Its own page is let in as before.
  await page.goBack();
  await page.getByRole('navigation').first().waitFor();
});

test('SAFE: the printed link signs one browser in, is gone from its history, and says so when it is opened again', async () => {
  const person = await stage.person();
  const context = person.page.context();
  await context.clearCookies();
  await person.page.evaluate(() => localStorage.clear());
  const page = await context.newPage();
  await page.goto(stage.server.printedLink);
  await page.getByRole('navigation').first().waitFor();
  expect(new URL(page.url()).search).toBe('');
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
  await page.getByRole('navigation').first().waitFor();
  await context.clearCookies();
  await page.goto(stage.server.printedLink);
  await page.getByText('This link has been used').waitFor();
  stage.expectComplaints(/401/);
});
