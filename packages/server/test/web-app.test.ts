import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
const get = (path: string, accept = 'text/html') =>
  rawRequest(server.port, { path, headers: { ...bearer, accept } });

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test('a server without a built web app says what to do, and serves the app as soon as the app is built', async () => {
  const answer = await get('/');
  expect(answer.status).toBe(503);
  expect(answer.text).toContain('npm start');

  const webDir = join(server.folder, 'web');
  mkdirSync(join(webDir, 'assets'), { recursive: true });
  writeFileSync(join(webDir, 'index.html'), '<title>The app</title>');
  writeFileSync(join(webDir, 'assets/app-a1b2c3.js'), 'export {};');
  writeFileSync(join(webDir, '.sources'), 'hidden');

  const index = await get('/');
  expect(index.status).toBe(200);
  expect(index.text).toContain('The app');
  expect(index.headers['cache-control']).toBe('no-cache');

  const asset = await get('/assets/app-a1b2c3.js', '*/*');
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(asset.headers['content-type']).toContain('javascript');

  expect((await get('/session/some-id')).text).toContain('The app');
  for (const path of ['/assets', '/assets/', '/assets/gone.js'])
    expect(await get(path, '*/*')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect((await get('/.sources', '*/** ')).status).toBe(404);
  rmSync(webDir, { recursive: true });
}); /** The raw response, not decompressed. */
async function getPacked(path: string, encodings: string, headers: Record<string, string> = {}) {
  const sent = { ...bearer, accept: 'text/html', 'accept-encoding': encodings, ...headers };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ host: '127.0.0.1', port: server.port, path, headers: sent }, resolve)
    .once('error', reject)
    .end();
  const answer = await promise;
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

test('serving a page and its files causes no leak warning of Node', async () => {
  const warned: Error[] = [];
  const warn = (warning: Error) => void warned.push(warning);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  const webDir = join(server.folder, 'web');
  mkdirSync(webDir, { recursive: true });
  onTestFinished(() => rmSync(webDir, { recursive: true }));
  for (const packed of ['', '.br']) writeFileSync(join(webDir, `index.html${packed}`), 'x');
  for (const path of ['/', '/session/a', '/index.html', '/gone.js']) {
    for (const accept of ['text/html', '*/*']) await get(path, accept);
    await getPacked(path, 'br, gzip');
  }
  expect(warned).toEqual([]);
});

test('if the build compressed a file, the compressed file is sent, in the best form that the client accepts', async () => {
  const webDir = join(server.folder, 'web');
  mkdirSync(join(webDir, 'assets'), { recursive: true });
  const files = {
    'index.html': '<!doctype html><title>The app</title>',
    'assets/app-a1b2c3.js': 'export const greeting = "Hello";',
    'assets/app-a1b2c3.css': 'body { margin: 0 }',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(webDir, name), text);
    writeFileSync(join(webDir, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(webDir, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(webDir, 'favicon.svg'), '<svg/>');
  const plain = (bytes: Buffer) => bytes;
  const cases = [
    { encodings: 'gzip, deflate, br, zstd', expected: 'br', unpack: brotliDecompressSync },
    { encodings: 'gzip', expected: 'gzip', unpack: gunzipSync },
    { encodings: 'identity', expected: undefined, unpack: plain },
  ];
  const wanted = [
    { path: '/', file: 'index.html', type: 'text/html', kept: 'no-cache' },
    { path: '/session/some-id', file: 'index.html', type: 'text/html', kept: 'no-cache' },
    {
      path: '/assets/app-a1b2c3.js',
      type: 'javascript',
      kept: 'public, max-age=31536000, immutable',
    },
    {
      path: '/assets/app-a1b2c3.css',
      type: 'text/css',
      kept: 'public, max-age=31536000, immutable',
    },
  ];
  for (const { encodings, expected, unpack } of cases) {
    for (const { path, file = path.slice(1), type, kept } of wanted) {
      const { status, headers, body } = await getPacked(path, encodings);
      expect({ path, status, encoding: headers['content-encoding'] }).toEqual({
        path,
        status: 200,
        encoding: expected,
      });
      expect(headers['content-type']).toContain(type);
      expect(headers['cache-control']).toBe(kept);
      expect(headers.vary).toContain('accept-encoding');
      expect(unpack(body).toString()).toBe(files[file as keyof typeof files]);
    }
  }
  // Programs also get the compressed file.
  const program = await getPacked('/', 'gzip, br', { accept: '*/*' });
  expect({ status: program.status, encoding: program.headers['content-encoding'] }).toEqual({
    status: 200,
    encoding: 'br',
  });
  // If the build did not compress a file, the file is sent uncompressed.
  const icon = await getPacked('/favicon.svg', 'br');
  expect(icon.headers['content-encoding']).toBeUndefined();
  expect(icon.body.toString()).toBe('<svg/>');
  // The token is also needed for compressed files.
  const stranger = await getPacked('/assets/app-a1b2c3.js', 'br', { authorization: 'Bearer no' });
  expect(stranger.status).toBe(401);
  rmSync(webDir, { recursive: true });
});

test.each(['/../../../etc/passwd', '/..%2f..%2f..%2fetc%2fpasswd', '/%2e%2e/%2e%2e/etc/passwd'])(
  'the URL %s leads to no file outside of the web app’s folder',
  async (path) => {
    const answer = await get(path, '*/*');
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('root:');
  },
);

test('a request for an unknown route of the API is refused, and the response is not the app’s page', async () => {
  expect(await get('/api/nothing')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('the page that draws diagrams is sandboxed and loads nothing', async () => {
  const webDir = join(server.folder, 'web');
  mkdirSync(webDir, { recursive: true });
  const text = '<!doctype html><title>Diagram</title>';
  writeFileSync(join(webDir, 'diagram-frame.html'), text);
  writeFileSync(join(webDir, 'diagram-frame.html.br'), brotliCompressSync(text));
  for (const encoding of ['br', 'identity']) {
    const { status, headers } = await getPacked('/diagram-frame.html', encoding);
    expect(status).toBe(200);
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'unsafe-inline'",
      "style-src 'unsafe-inline'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      'sandbox allow-scripts',
    ]);
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
  }
  const favicon = await getPacked('/favicon.svg', 'identity');
  expect(favicon.headers['content-security-policy']).toContain("script-src 'self';");
  rmSync(webDir, { recursive: true });
});
