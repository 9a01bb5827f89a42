/**
 * Tests which requests are allowed: for each route, with each kind of credentials, and in each way to write the route's
 * address.
 */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCredentials } from '@liminal/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, startServer, type TestServer, token } from './harness.ts';
import { upgradeHeaders } from './raw-request.ts';

type Route = TestServer['app']['guardedRoutes'][number];

const credentials = createCredentials(token);
const appPage = '<title>The app</title>';
let server: TestServer;
let routes: Route[];

beforeAll(async () => {
  server = await startServer({ credentials });
  const webDir = join(server.folder, 'web');
  mkdirSync(webDir);
  writeFileSync(join(webDir, 'index.html'), appPage);
  routes = server.app.guardedRoutes;
});
afterAll(() => server.close());

/** For each kind of credentials, a function that returns the headers of a request with these credentials. */
const proofs = {
  nothing: () => ({}),
  'a spent link': () => ({}),
  'a wrong token': () => ({ authorization: 'Bearer wrong' }),
  'the cookie alone': () => ({ cookie: signIn().cookie }),
  'the key alone': () => ({ 'x-liminal-key': signIn().key }),
  'the cookie and another browser’s key': () => ({
    cookie: signIn().cookie,
    'x-liminal-key': signIn().key,
  }),
  'the cookie and the key': () => {
    const { cookie, key } = signIn();
    return { cookie, 'x-liminal-key': key };
  },
  'the token': () => bearer,
} satisfies Record<string, () => Record<string, string>>;
type Proof = keyof typeof proofs;
const allProofs = Object.keys(proofs) as Proof[];
const full: Proof[] = ['the cookie and the key', 'the token'];

function signIn(): { cookie: string; key: string } {
  const { cookie, key } = credentials.newDevice();
  return { cookie: `liminal_${server.port}=${cookie}`, key };
}

function spentCode(): string {
  const code = credentials.newCode();
  credentials.takeLink(code);
  return code;
}

/** Ways to write one address. The router decides which route each of these means. */
const spellings: Record<string, (path: string) => string> = {
  plain: (path) => path,
  'with a letter encoded': (path) => path.replace(/[a-z]/, encodeByte),
  'with every letter encoded': (path) => path.replaceAll(/[a-z]/g, encodeByte),
  'with a fragment': (path) => `${path}#x`,
  'with a parameter after a semicolon': (path) => `${path};x`,
  'with two slashes': (path) => `/${path}`,
  'with an encoded slash': (path) => path.replace('/', '/%2f'),
  'with a trailing slash': (path) => `${path}/`,
  'with a trailing dot': (path) => `${path}.`,
  'with a dot segment': (path) => `/.${path}`,
  'through a parent folder': (path) => `/x/..${path}`,
  'in capitals': (path) => path.toUpperCase(),
  'in absolute form': (path) => `http://127.0.0.1:${server.port}${path}`,
  'in absolute form, encoded': (path) =>
    `http://127.0.0.1:${server.port}${path.replace(/[a-z]/, encodeByte)}`,
};

function encodeByte(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

interface Answer {
  status: number;
  text: string;
  code: string | undefined;
}

/** Sends the address unchanged. Node's client would normalise some addresses. */
async function send(
  method: string,
  target: string,
  given: Record<string, string | string[]>,
): Promise<Answer> {
  const host = `127.0.0.1:${server.port}`;
  const headers = { host, origin: `http://${host}`, connection: 'close', ...given };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  const length = ['GET', 'HEAD'].includes(method) ? [] : ['content-length: 0'];
  const socket = createConnection({ host: '127.0.0.1', port: server.port });
  socket.setEncoding('latin1');
  socket.write([`${method} ${target} HTTP/1.1`, ...lines, ...length, '', ''].join('\r\n'));
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
    // If the socket were not destroyed, an accepted upgrade would stay open.
    if (text.startsWith('HTTP/1.1 101')) socket.destroy();
  });
  await once(socket, 'close');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  return { status, text, code: /"code":"([A-Z_]+)"/.exec(text)?.[1] };
}

function targetOf({ url }: Route): string {
  return url.replaceAll(/:\w+/g, 'x').replace('*', 'x');
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Whether a route accepts these credentials according to the table in the documentation. */
function opens({ access, method }: Pick<Route, 'access' | 'method'>, proof: Proof): boolean {
  if (full.includes(proof) || access === 'open') return true;
  const hasCookie =
    proof === 'the cookie alone' || proof === 'the cookie and another browser’s key';
  return access === 'page' && hasCookie && isReading(method);
}

/**
 * Whether the route at a path accepts the upgrade. In an address with a fragment, the query of `/acp` contains an
 * unknown agent type.
 */
function sockets(path: string, upgrade: string, spelling: string): boolean {
  if (path === '/ws') return upgrade !== 'acp-lines';
  return path === '/acp?agent=scripted' && spelling !== 'with a fragment';
}

const isRefused = ({ status }: Answer): boolean => status === 401 || status === 403;

test('SAFE-1 every route is listed, and only the listed routes accept less than full credentials', () => {
  expect(routes.length).toBeGreaterThan(60);
  const named = (access: string) => [
    ...new Set(routes.filter((one) => one.access === access).map(({ url }) => url)),
  ];
  expect(named('open').toSorted()).toEqual(['/healthz', '/readyz', '/sign-in.js']);
  expect(named('page').toSorted()).toEqual(['/', '/*', '/api/image-frame']);
  const upgraded = routes.filter(({ upgrades }) => upgrades.length > 0);
  expect([...new Set(upgraded.map(({ url }) => url))]).toEqual(['/ws', '/acp']);
});

test('SAFE-1 a route without a setting needs full credentials', async () => {
  const other = await startServer();
  await other.close();
  const { createServer } = await import('@liminal/server');
  const app = await createServer({
    runtime: other.runtime,
    credentials,
    version: '1',
    webDir: other.folder,
    host: '127.0.0.1',
    allowedHosts: ['localhost:80'],
    allowedOrigins: [],
  });
  app.get('/api/added-later', async () => ({ secret: true }));
  const { cookie, key } = credentials.newDevice();
  const ask = async (headers: Record<string, string>) => {
    const answer = await app.inject({ url: '/api/added-later', headers });
    return answer.statusCode;
  };
  expect(await ask({ cookie: `liminal_80=${cookie}` })).toBe(401);
  expect(await ask({ cookie: `liminal_80=${cookie}`, 'x-liminal-key': key })).toBe(200);
  await app.close();
});

describe.each(allProofs)('with %s', (proof) => {
  test('SAFE-1 each route accepts exactly the credentials in its entry', async () => {
    for (const route of routes) {
      const query = proof === 'a spent link' ? `?code=${spentCode()}` : '';
      const answer = await send(route.method, targetOf(route) + query, proofs[proof]());
      const what = `${route.method} ${route.url} → ${answer.status} ${answer.code ?? ''}`;
      expect(isRefused(answer), what).toBe(!opens(route, proof));
      const code = isRefused(answer) && route.method !== 'HEAD' ? 'UNAUTHORIZED' : '';
      expect(what).toContain(code);
    }
  });

  test('SAFE-3 SAFE-4 requests by pages of other origins are rejected, and also requests with other host names', async () => {
    const foreign: Record<string, string | string[]>[] = [
      { origin: 'http://evil.example' },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { origin: 'null' },
      { host: `evil.example:${server.port}` },
      { host: [`127.0.0.1:${server.port}`, 'evil.example'] },
    ];
    for (const headers of foreign) {
      for (const route of routes) {
        const answer = await send(route.method, targetOf(route), {
          ...proofs[proof](),
          ...headers,
        });
        expect(answer.status, `${route.method} ${route.url} ${JSON.stringify(headers)}`).toBe(403);
      }
    }
  });

  test('SAFE-4 a request with an absolute URL of another server is rejected', async () => {
    const answer = await send('GET', 'http://evil.example/api/agents', proofs[proof]());
    expect(answer).toMatchObject({ status: 403, code: 'HOST_NOT_ALLOWED' });
  });

  test('SAFE-1 a link on another site opens the same routes as the address bar', async () => {
    const navigation = {
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      accept: 'text/html',
      origin: [],
    };
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      for (const spelling of ['plain', 'with a letter encoded']) {
        const target = spellings[spelling]!(targetOf(route));
        const answer = await send('GET', target, { ...proofs[proof](), ...navigation });
        expect(isRefused(answer), `${target} → ${answer.status}`).toBe(!opens(route, proof));
      }
    }
  });

  test('SAFE-1 an upgrade is accepted only with full credentials and on a route that supports the protocol', async () => {
    const hasFullProof = full.includes(proof);
    const paths = [...new Set(routes.map(targetOf)), '/nope', '/acp?agent=scripted'];
    for (const path of paths) {
      for (const upgrade of ['websocket', 'acp-lines', 'WebSocket']) {
        for (const spelling of ['plain', 'with a letter encoded', 'with a fragment']) {
          const target = spellings[spelling]!(path);
          const headers = { ...proofs[proof](), ...upgradeHeaders, upgrade };
          const { status } = await send('GET', target, headers);
          const refusals = hasFullProof ? [400] : [400, 401];
          expect(sockets(path, upgrade, spelling) && hasFullProof ? [101] : refusals).toContain(
            status,
          );
        }
      }
    }
  });
});

test.each(allProofs.filter((proof) => !full.includes(proof)))(
  'SAFE-1 with %s, an address in any spelling opens at most a page that is the same for everyone',
  async (proof) => {
    const reading = routes.filter(({ method }) => method === 'GET');
    for (const [spelling, spell] of Object.entries(spellings)) {
      for (const route of reading) {
        const answer = await send('GET', spell(targetOf(route)), proofs[proof]());
        const what = `${route.url} ${spelling} → ${answer.status} ${answer.code ?? ''}`;
        const isNothing = [400, 401, 403, 404].includes(answer.status);
        const isPage = opens({ access: 'page', method: 'GET' }, proof);
        const isShown = answer.text.includes(appPage) && isPage;
        expect(isNothing || isShown || opens(route, proof), what).toBe(true);
      }
    }
  },
);

test('a request to upgrade to an unsupported protocol is answered over HTTP', async () => {
  for (const upgrade of ['h2c', 'TLS/1.3', 'foo']) {
    // With `close`, the server ends the connection at once, and `send` waits for that end.
    const headers = { connection: 'Upgrade, close', upgrade };
    expect((await send('GET', '/api/agents', { ...bearer, ...headers })).status).toBe(200);
    expect((await send('GET', '/api/agents', headers)).status).toBe(401);
  }
});

test('if another port has set a cookie of the same name, the valid cookie is still found', async () => {
  const { cookie, key } = signIn();
  const name = `liminal_${server.port}`;
  for (const tossed of [`${name}=evil; ${cookie}`, `${cookie}; ${name}=evil`]) {
    const headers = { cookie: tossed, 'x-liminal-key': key };
    expect((await send('GET', '/api/agents', headers)).status).toBe(200);
  }
});

test('a sign-in link is used up when a person opens it, but not by a preview', async () => {
  const code = credentials.newCode();
  const open = async (method: string, headers: Record<string, string>) =>
    (await send(method, `/?code=${code}`, { accept: 'text/html', origin: [], ...headers })).status;
  expect(await open('HEAD', {})).toBe(401);
  expect(await open('GET', { 'sec-fetch-dest': 'image' })).toBe(401);
  expect(await open('GET', { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' })).toBe(401);
  expect(await open('POST', { origin: `http://127.0.0.1:${server.port}` })).toBe(401);
  expect(await open('GET', { 'sec-fetch-dest': 'document' })).toBe(200);
  expect(await open('GET', { 'sec-fetch-dest': 'document' })).toBe(401);
});

/** Returns the table of docs/security.md, made from the server's responses. */
async function accessTable(): Promise<string> {
  const columns = ['nothing', 'the cookie alone', ...full] as const;
  const kinds = new Map<string, string[]>();
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const marks: string[] = [];
    for (const proof of columns) {
      const answer = await send(route.method, targetOf(route), proofs[proof]());
      marks.push(isRefused(answer) ? '–' : 'answers');
    }
    for (const proof of columns) {
      let opened = 0;
      for (const upgrade of route.method === 'GET' ? route.upgrades : []) {
        const query = route.url === '/acp' ? '?agent=scripted' : '';
        const headers = { ...proofs[proof](), ...upgradeHeaders, upgrade };
        const { status } = await send('GET', targetOf(route) + query, headers);
        if (status === 101) opened += 1;
      }
      if (opened > 0) marks[columns.indexOf(proof)] += ', upgrades';
    }
    const key = marks.join(' | ');
    kinds.set(key, [...(kinds.get(key) ?? []), `\`${route.method} ${route.url}\``]);
  }
  const rows = [...kinds].map(([marks, named]) => `| ${named.join(', ')} | ${marks} |`);
  const head = ['| route | nothing | the cookie alone | the cookie and the key | the token |'];
  return `${[...head, '|---|---|---|---|---|', ...rows].join('\n')}\n`;
}

test('docs/security.md has the table of routes and credentials (vitest -u writes it there)', async () => {
  const path = fileURLToPath(new URL('../../../docs/security.md', import.meta.url));
  const page = readFileSync(path, 'utf8');
  const place = /(?<=<!-- who may open what -->\n)[\s\S]*?(?=<!-- end -->)/;
  expect(page).toMatch(place);
  const table = await accessTable();
  await expect(page.replace(place, () => table)).toMatchFileSnapshot(path);
});
