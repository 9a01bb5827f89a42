/** A PostgreSQL whose connections are all taken by others, for a while or permanently. */
import { startPostgres, type PostgresServer } from '@liminal/testkit';
import { Client } from 'pg';
import { testAtLength } from '@liminal/testkit/at-length';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePostgres, openPostgres } from '../src/postgres/index.ts';
import { sessionRecord } from '../src/testing/records.ts';

const maxConnections = 8;

let server: PostgresServer;
/** The URL of a user who may not use the reserved connections. */
let url: string;
const others: Client[] = [];

beforeAll(async () => {
  server = await startPostgres(maxConnections);
  const admin = new Client(server.url);
  await admin.connect();
  await admin.query('CREATE ROLE someone LOGIN; GRANT CREATE ON DATABASE postgres TO someone');
  await admin.end();
  url = server.url.replace('liminal@', 'someone@');
});
afterEach(async () => letGo());
afterAll(async () => server.stop());

/** Takes all connections, until PostgreSQL refuses one with a message that contains these words. */
async function takeAll(as: string, words: string): Promise<void> {
  let refusal: unknown;
  while (refusal === undefined) refusal = await takeOne(as);
  expect(refusal).toMatchObject({ code: '53300', message: expect.stringContaining(words) });
}

async function takeOne(as: string): Promise<unknown> {
  const client = new Client(as);
  client.on('error', () => {});
  return client.connect().then(
    () => void others.push(client),
    (error: unknown) => error,
  );
}

async function letGo(): Promise<void> {
  await Promise.all(others.splice(0).map(async (client) => client.end()));
}

const refusals = () => [
  { as: server.url, words: 'too many clients' },
  { as: url, words: 'remaining connection slots are reserved' },
];

test('SAFE: a start waits for a connection that others release', async () => {
  for (const [at, { as, words }] of refusals().entries()) {
    // Load all of the driver's libraries before the connections are taken.
    await describePostgres(as);
    await takeAll(as, words);
    const opening = openPostgres(as, { schema: `start_${at}` });
    // Take all connections five more times: PostgreSQL has then refused the start above at least once.
    for (let attempt = 0; attempt < 5; attempt++) await takeAll(as, words);
    await letGo();
    const { store } = await opening;
    await store.saveSession(sessionRecord('session-1'));
    expect(await store.getSession('session-1')).toEqual(sessionRecord('session-1'));
    await store.close();
  }
});

test('SAFE: requests wait for each other if the database has only one connection', async () => {
  const { store } = await openPostgres(url, { schema: 'one' });
  await takeAll(url, 'remaining connection slots are reserved');
  const ids = Array.from({ length: 20 }, (_, at) => `session-${at}`);
  await Promise.all(ids.map(async (id) => store.saveSession(sessionRecord(id))));
  const found = await Promise.all(ids.map(async (id) => store.getSession(id)));
  expect(found.map((record) => record?.sessionId)).toEqual(ids);
  await store.close();
});

testAtLength(
  'SAFE: if no connection is released, a request fails with a sentence after ten seconds',
  async () => {
    await takeAll(url, 'remaining connection slots are reserved');
    const began = performance.now();
    await expect(describePostgres(url)).rejects.toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining('it had no free connection for 10 s'),
    });
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(9_000);
    expect(took).toBeLessThan(15_000);
  },
);
