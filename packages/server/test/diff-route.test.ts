import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionDiff } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
let projectDir: string;
let sessionId: string;

beforeAll(async () => {
  server = await startServer();
  projectDir = join(server.folder, 'shop');
  mkdirSync(projectDir);
  ({ sessionId } = await server.runtime.createSession({ cliType: 'scripted', projectDir }));
});
afterAll(() => server.close());

const ask = (id = sessionId, headers: Record<string, string> = bearer) =>
  rawRequest(server.port, { path: `/api/session/${id}/diff`, headers });

test('a folder without a repository and an unknown session are rejected', async () => {
  expect(await ask()).toMatchObject({ status: 422, code: 'DIFF_UNAVAILABLE' });
  expect(await ask('none')).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
});

test('the changes are sent as JSON that browsers must not cache', async () => {
  execFileSync('git', ['init', '-q', projectDir]);
  writeFileSync(join(projectDir, 'page.html'), '<script>alert(1)</script>\n');
  const { status, headers, text } = await ask();
  expect(status).toBe(200);
  expect(SessionDiff.parse(JSON.parse(text))).toMatchObject({
    root: projectDir,
    files: [
      {
        path: 'page.html',
        change: 'untracked',
        hunks: [{ newStart: 1, lines: ['+<script>alert(1)</script>'] }],
      },
    ],
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
});

test('SAFE: a request without the token is rejected', async () => {
  expect(await ask(sessionId, {})).toMatchObject({ status: 401 });
});

test('if the project folder was deleted, the response reports this', async () => {
  const gone = join(server.folder, 'gone');
  mkdirSync(gone);
  const request = { cliType: 'scripted', projectDir: gone };
  const { sessionId: id } = await server.runtime.createSession(request);
  execFileSync('rmdir', [gone]);
  expect(await ask(id)).toMatchObject({ status: 400, code: 'PROJECT_DIR_NOT_FOUND' });
});
