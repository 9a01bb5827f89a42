import { expect, test } from 'vitest';
import { Cluster } from './cluster.ts';

/**
 * Opens a server's link as a browser does. Returns a function that returns the browser's headers for a request to the
 * server at an origin, which may have another port.
 */
async function signIn(link: string) {
  const page = await fetch(link, { headers: { accept: 'text/html' } });
  const [, cookie = ''] = /=([^;]+)/.exec(page.headers.getSetCookie()[0] ?? '') ?? [];
  const [, key = ''] = /data-key="([^"]+)"/.exec(await page.text()) ?? [];
  return (origin: string) => ({
    cookie: `liminal_${new URL(origin).port}=${cookie}`,
    'x-liminal-key': key,
    origin,
  });
}

/** Node's WebSocket accepts headers, but the type of its options lacks them. */
const SocketWithHeaders = WebSocket as unknown as new (url: string, options: object) => WebSocket;

/** Resolves when the socket is open. `code` resolves with the code with which the socket is closed. */
async function openSocket(origin: string, headers: Record<string, string>) {
  const socket = new SocketWithHeaders(`${origin.replace('http', 'ws')}/ws`, { headers });
  const { promise: code, resolve } = Promise.withResolvers<number>();
  socket.addEventListener('close', (event) => resolve(event.code));
  await new Promise((opened) => socket.addEventListener('open', opened));
  return { code };
}

test('if a browser signs out at one server, it is signed out at all servers, and its connections are closed', async () => {
  const cluster = await Cluster.start({ servers: 2 });
  const [a, b] = cluster.members.map(({ server }) => server);
  const [one, other] = [await signIn(a!.link), await signIn(a!.link)];
  const status = async (device: typeof one, { origin }: { origin: string }) =>
    (await fetch(`${origin}/api/agents`, { headers: device(origin) })).status;
  expect(await status(one, b!)).toBe(200);
  const closed = await openSocket(b!.origin, one(b!.origin));

  const signOut = { method: 'POST', headers: one(a!.origin) };
  expect((await fetch(`${a!.origin}/api/sign-out`, signOut)).status).toBe(200);
  expect(await closed.code).toBe(1008);
  expect(await status(one, a!)).toBe(401);
  expect(await status(one, b!)).toBe(401);
  expect(await status(other, b!)).toBe(200);
  await b!.crash();
  await b!.restart();
  expect(await status(one, b!)).toBe(401);
  expect(await status(other, b!)).toBe(200);
});
