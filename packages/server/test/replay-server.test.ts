import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, expect, test } from 'vitest';
import { createCredentials, createReplayServer } from '../src/index.ts';

test('a replayed file, its blobs and its page are sent only to clients that opened the link', async () => {
  const webDir = mkdtempSync(join(tmpdir(), 'liminal-replay-web-'));
  writeFileSync(join(webDir, 'index.html'), '<p>The page</p>');
  const [token, hash] = ['t'.repeat(43), 'a'.repeat(64)];
  const bytes = Buffer.from('<script>no</script>');
  const server = await createReplayServer({
    file: {
      sessionId: 's1',
      async *read() {
        yield Buffer.from('{"liminal":"export"}\n');
      },
      blobs: new Map([[hash, { mimeType: 'text/html', read: async () => bytes }]]),
    },
    version: '0',
    webDir,
    credentials: createCredentials(token),
    host: '127.0.0.1',
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(webDir, { recursive: true });
  });
  const url = new URL(await server.listen({ host: '127.0.0.1', port: 0 })).origin;
  const ask = async (path: string, headers: Record<string, string>) =>
    fetch(`${url}${path}`, { headers });
  const own = { authorization: `Bearer ${token}` };

  expect((await ask('/api/session/s1/export', {})).status).toBe(401);
  expect((await ask(`/api/blob/${hash}`, {})).status).toBe(401);
  expect((await ask('/replay/s1', { accept: 'text/html' })).status).toBe(401);
  expect(await (await ask('/api/session/s1/export', own)).text()).toBe('{"liminal":"export"}\n');
  expect((await ask('/api/session/s2/export', own)).status).toBe(404);
  const blob = await ask(`/api/blob/${hash}`, own);
  expect(await blob.text()).toBe('<script>no</script>');
  expect(blob.headers.get('content-disposition')).toBe('attachment');
  expect((await ask(`/api/blob/${'b'.repeat(64)}`, own)).status).toBe(404);
  const page = await ask('/replay/s1', { ...own, accept: 'text/html' });
  expect(await page.text()).toBe('<p>The page</p>');
  // The replay server has no other routes.
  for (const path of ['/api/projects', '/api/session/s1/history', '/metrics']) {
    expect((await ask(path, own)).status).toBe(404);
  }
});
