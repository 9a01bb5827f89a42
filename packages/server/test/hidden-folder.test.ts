/** Liminal's own data folder is below an allowed root. No route may read or list the folder's files. */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Operation, operations, serverOperations } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
let sessionId: string;

beforeAll(async () => {
  server = await startServer();
  const { folder } = server;
  mkdirSync(join(folder, '.liminal/sub'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, '.liminal/token'), 'SECRET-TOKEN');
  writeFileSync(join(folder, 'src/token.ts'), 'shown');
  symlinkSync('.liminal', join(folder, 'folder-link'));
  symlinkSync('../.liminal/token', join(folder, 'src/token-link'));
  linkSync(join(folder, '.liminal/token'), join(folder, 'src/token-hard'));
  linkSync(join(folder, 'src/token.ts'), join(folder, 'src/token-twice.ts'));
  const request = { cliType: 'scripted', projectDir: folder };
  ({ sessionId } = await server.runtime.createSession(request));
});
afterAll(() => server.close());

const get = async (path: string, query: Record<string, string>) =>
  rawRequest(server.port, {
    path: `${path}?${new URLSearchParams(query).toString()}`,
    headers: bearer,
  });

test('every operation that has a path is tested in this file', () => {
  const takesPath = (operation: Operation) =>
    [operation.query, operation.body].some(
      (schema) =>
        schema instanceof z.ZodObject &&
        Object.keys(schema.shape).some((name) => /path|dir|folder|file|prefix|^add$/i.test(name)),
    );
  const all = Object.entries<Operation>({ ...operations, ...serverOperations });
  const found = all.flatMap(([name, operation]) => (takesPath(operation) ? [name] : []));
  expect(found.toSorted()).toEqual([
    'changeDirectories',
    'createSession',
    'findFiles',
    'listFolders',
    'loadSession',
    'readFile',
  ]);
});

test.each([
  '.liminal',
  '.liminal/token',
  '.liminal/none',
  'folder-link/token',
  'src/token-link',
  'src/token-hard',
  'src/../.liminal/token',
])('readFile rejects the path %s', async (path) => {
  for (const asked of [path, join(server.folder, path)]) {
    const { status, code, text } = await get(`/api/session/${sessionId}/file`, { path: asked });
    expect({ status, code }).toEqual({ status: 403, code: 'FILE_NOT_ALLOWED' });
    expect(text).not.toContain('SECRET');
  }
});

test('readFile shows a file with several hard links if none of them is hidden', async () => {
  const path = 'src/token-twice.ts';
  expect((await get(`/api/session/${sessionId}/file`, { path })).text).toContain('shown');
});

test.each(['token', 'liminal', 'sub', '', 'src'])(
  'findFiles lists nothing hidden for “%s”',
  async (q) => {
    const { status, text } = await get('/api/project/files', { projectDir: server.folder, q });
    expect(status).toBe(200);
    expect(text).not.toMatch(/\.liminal|token-link|token-hard|folder-link|"sub/);
  },
);

test('findFiles and createSession reject a hidden folder as the project', async () => {
  for (const path of ['.liminal', '.liminal/sub', '.liminal/none', 'folder-link/sub']) {
    const projectDir = join(server.folder, path);
    expect(await get('/api/project/files', { projectDir, q: '' })).toMatchObject({
      status: 403,
      code: 'PROJECT_DIR_NOT_ALLOWED',
    });
    await expect(
      server.runtime.createSession({ cliType: 'scripted', projectDir }),
    ).rejects.toMatchObject({ code: 'PROJECT_DIR_NOT_ALLOWED' });
  }
});

test('listFolders lists neither the hidden folder nor its contents', async () => {
  for (const path of ['/.', '/.lim', '/.liminal/', '/folder-link/', '/.liminal/s']) {
    const { status, text } = await get('/api/folders', { prefix: `${server.folder}${path}` });
    expect(status).toBe(200);
    expect(text).not.toMatch(/"name":"(\.liminal|sub)"/);
  }
});

test('createSession, loadSession and changeDirectories reject a hidden additional folder', async () => {
  const { folder: projectDir, port } = server;
  const post = async (path: string, body: object) => {
    const { status, code } = await rawRequest(port, {
      path,
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status, code };
  };
  const refused = { status: 403, code: 'PROJECT_DIR_NOT_ALLOWED' };
  for (const path of ['.liminal', '.liminal/sub', '.liminal/none', 'folder-link/sub']) {
    const additionalDirectories = [join(projectDir, path)];
    const create = { cliType: 'scripted', projectDir, additionalDirectories };
    const session = `/api/session/${sessionId}`;
    expect(await post('/api/session/create', create)).toEqual(refused);
    expect(await post(`${session}/load`, { additionalDirectories })).toEqual(refused);
    expect(await post(`${session}/directories`, { add: additionalDirectories })).toEqual(refused);
  }
});
