import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { findServer, readServerFile, writeServerFile } from './server-file.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'liminal-server-file-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** Starts a program that answers requests; returns its address, and the list of requested paths. */
async function listen() {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end('{"ok":true}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test('a command finds a server by its record until the record is removed', async () => {
  const { url } = await listen();
  const remove = writeServerFile(dataDir, { url, token: 'secret' });
  expect(await findServer(dataDir)).toEqual({ url, token: 'secret', pid: process.pid });
  remove();
  expect(await findServer(dataDir)).toBeUndefined();
});

test('SAFE: after a crash, a command mistakes neither a process with the server’s pid nor a program at the server’s address for the server', async () => {
  const { url, asked } = await listen();
  writeServerFile(dataDir, { url, token: 'secret' });
  const path = join(dataDir, 'server.json');
  const record = JSON.parse(readFileSync(path, 'utf8')) as { startedAt: number };
  writeFileSync(path, JSON.stringify({ ...record, startedAt: record.startedAt - 1 }));
  expect(readServerFile(dataDir)).toBeUndefined();
  expect(await findServer(dataDir)).toBeUndefined();
  expect(asked).toEqual([]);
});
