import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileResult } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
let outside: string;
let sessionId: string;

beforeAll(async () => {
  server = await startServer();
  outside = mkdtempSync(join(tmpdir(), 'liminal-outside-'));
  const projectDir = join(server.folder, 'shop');
  mkdirSync(join(projectDir, 'src'), { recursive: true });
  writeFileSync(join(projectDir, 'src/page.html'), '<script>alert(1)</script>');
  writeFileSync(join(outside, 'secret'), 'secret');
  symlinkSync(outside, join(projectDir, 'out'));
  execFileSync('mkfifo', [join(projectDir, 'pipe')]);
  ({ sessionId } = await server.runtime.createSession({ cliType: 'scripted', projectDir }));
});
afterAll(async () => {
  await server.close();
  rmSync(outside, { recursive: true });
});

/** @param query - The query, written as it is in the URL. */
const ask = (query: string, id = sessionId) =>
  rawRequest(server.port, { path: `/api/session/${id}/file${query}`, headers: bearer });

test('a file is sent as JSON that browsers neither reinterpret nor cache', async () => {
  const { status, headers, text } = await ask('?path=src/page.html');
  expect(status).toBe(200);
  expect(JSON.parse(text) as FileResult).toMatchObject({
    kind: 'text',
    text: '<script>alert(1)</script>',
    path: join(server.folder, 'shop/src/page.html'),
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  });
});

test.each([
  ['?path=../../../../../../etc/passwd', 403, 'FILE_NOT_ALLOWED'],
  ['?path=..%2F..%2F..%2F..%2F..%2F..%2Fetc%2Fpasswd', 403, 'FILE_NOT_ALLOWED'],
  ['?path=%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd', 403, 'FILE_NOT_ALLOWED'],
  ['?path=/etc/passwd', 403, 'FILE_NOT_ALLOWED'],
  ['?path=/proc/self/environ', 403, 'FILE_NOT_ALLOWED'],
  ['?path=/dev/zero', 403, 'FILE_NOT_ALLOWED'],
  ['?path=out/secret', 403, 'FILE_NOT_ALLOWED'],
  ['?path=out/nothing', 403, 'FILE_NOT_ALLOWED'],
  ['?path=..%252F..%252Fetc%252Fpasswd', 404, 'FILE_NOT_FOUND'],
  ['?path=file:///etc/passwd', 404, 'FILE_NOT_FOUND'],
  ['?path=src/page.html%00.png', 404, 'FILE_NOT_FOUND'],
  ['?path=pipe', 422, 'FILE_UNREADABLE'],
  ['?path=src', 422, 'FILE_UNREADABLE'],
  ['?path=src&path=pipe', 400, 'INVALID_QUERY'],
  ['?path=', 400, 'INVALID_QUERY'],
  ['', 400, 'INVALID_QUERY'],
  [`?path=${'x'.repeat(5000)}`, 400, 'INVALID_QUERY'],
])('the request for %s is rejected with %i %s', async (query, status, code) => {
  const answer = await ask(query);
  expect(answer).toMatchObject({ status, code });
  expect(answer.text).not.toContain(outside);
});

test('if a session’s command has an output file outside of the project, this file can be read, but no other file in its folder', async () => {
  const folder = join(outside, sessionId, 'tasks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'x.output'), 'line 1');
  writeFileSync(join(folder, 'y.output'), 'secret');
  const asked = async (path: string) => ask(`?path=${encodeURIComponent(path)}`);
  const { status, text } = await asked(join(folder, 'x.output'));
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ kind: 'text', text: 'line 1' });
  expect(await asked(join(folder, 'y.output'))).toMatchObject({ status: 403 });
  rmSync(join(folder, 'x.output'));
  symlinkSync(join(outside, 'secret'), join(folder, 'x.output'));
  expect(await asked(join(folder, 'x.output'))).toMatchObject({ status: 403 });
});

test('for an unknown session, no file is sent', async () => {
  expect(await ask('?path=src/page.html', 'none')).toMatchObject({
    status: 404,
    code: 'SESSION_NOT_FOUND',
  });
});

test('a request without the token is rejected', async () => {
  const path = `/api/session/${sessionId}/file?path=src/page.html`;
  expect(await rawRequest(server.port, { path })).toMatchObject({ status: 401 });
});
