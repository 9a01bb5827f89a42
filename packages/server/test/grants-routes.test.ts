import type { Grant } from '@liminal/protocol';
import { type OpenedStorage, StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';

let storage: OpenedStorage;
let server: TestServer;
beforeEach(async () => {
  storage = openMemoryStorage();
  server = await startServer({}, storage);
});
afterEach(() => server.close());

const shop = `/work/${'long folder/'.repeat(60)}shop`;
const edits: Grant = {
  rule: 'edit:src/',
  title: 'edits in src/',
  grantedAt: '2026-01-01T00:00:00.000Z',
};

async function list(query: Record<string, string>) {
  const url = `/api/project/grants?${new URLSearchParams(query)}`;
  const answer = await server.app.inject({ method: 'GET', url, headers: bearer });
  return { status: answer.statusCode, body: answer.json<unknown>() };
}

async function remove(payload: object) {
  const url = '/api/project/grants/remove';
  const answer = await server.app.inject({ method: 'POST', url, headers: bearer, payload });
  return { status: answer.statusCode, body: answer.json<unknown>() };
}

const refused = (status: number, code: string) => ({ status, body: { error: { code } } });

test('a project’s grants are listed, and can be removed by their rules', async () => {
  const tests = { ...edits, rule: 'command:npm test', title: 'npm test' };
  for (const grant of [tests, edits]) await storage.store.addGrant(shop, grant);
  expect(await list({ projectId: shop })).toEqual({
    status: 200,
    body: { grants: [tests, edits] },
  });
  expect(await list({ projectId: '/other' })).toEqual({ status: 200, body: { grants: [] } });

  expect(await remove({ projectId: shop, rule: tests.rule })).toEqual({ status: 200, body: {} });
  expect(await remove({ projectId: shop, rule: tests.rule })).toEqual({ status: 200, body: {} });
  expect(await list({ projectId: shop })).toEqual({ status: 200, body: { grants: [edits] } });
});

test('incomplete requests, and requests that cannot be stored, are rejected', async () => {
  expect(await list({})).toMatchObject(refused(400, 'INVALID_QUERY'));
  expect(await list({ projectId: '' })).toMatchObject(refused(400, 'INVALID_QUERY'));
  expect(await remove({ projectId: shop })).toMatchObject(refused(400, 'INVALID_BODY'));
  storage.store.removeGrant = async () =>
    Promise.reject(new StorageError('STORE_WRITE_FAILED', 'The disk is full.'));
  expect(await remove({ projectId: shop, rule: 'a' })).toMatchObject(
    refused(507, 'STORE_WRITE_FAILED'),
  );
});
