/** A PostgreSQL that is old, damaged, full or unavailable; blobs of several servers. */
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { startPostgres, type PostgresServer } from '@liminal/testkit';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openPostgres } from '../src/postgres/index.ts';
import { response, sessionRecord } from '../src/testing/records.ts';
import { cuttable } from './cuttable.ts';

const png = { mimeType: 'image/png' };
const mib = 1024 * 1024;
const minuteMs = 60_000;
const later = () => Date.now() + 60_000;
const newBytes = (size: number) => new Uint8Array(randomBytes(size));

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.stop());

/** Queries the database directly. */
async function ask(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(server.url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function open(schema = `s${randomUUID().replaceAll('-', '')}`) {
  const database = await openPostgres(server.url, { schema });
  onTestFinished(async () => database.close());
  return { ...database, schema };
}

test('a database from before blobs keeps its data, and accepts blobs', async () => {
  const { store, schema } = await open();
  await store.saveSession(sessionRecord('session-1'));
  await ask(
    `DROP TABLE ${schema}.blob_holders, ${schema}.blobs, ${schema}.deleted_sessions, ${schema}.grants, ${schema}.kept_events`,
  );
  await ask(`ALTER TABLE ${schema}.items DROP COLUMN call_hash`);
  await ask(`UPDATE ${schema}.data_version SET version = 1`);
  const later = await open(schema);
  expect(await later.store.getSession('session-1')).toEqual(sessionRecord('session-1'));
  const { hash } = await later.blobs.put(newBytes(mib), { ...png, sessionId: 'session-1' });
  expect(await later.blobs.get(hash)).toMatchObject({ size: mib });
  await later.store.deleteSession('session-1');
  expect(await later.blobs.get(hash)).toBeUndefined();
  expect(await ask(`SELECT version FROM ${schema}.data_version`)).toEqual([{ version: 6 }]);
});

test.each([
  ['a changed byte', 'bytes = set_byte(bytes, 700000, get_byte(bytes, 700000) # 1)'],
  ['fewer bytes', 'bytes = substring(bytes FOR 700000)'],
  ['no bytes', `bytes = ''`],
])('SAFE: damaged bytes are refused, and never returned: %s', async (_, damage) => {
  const { blobs, schema } = await open();
  const { hash } = await blobs.put(newBytes(mib), png);
  await ask(`UPDATE ${schema}.blobs SET ${damage}`);
  await expect(blobs.get(hash)).rejects.toMatchObject({
    code: 'STORE_READ_FAILED',
    message: expect.stringContaining('damaged'),
  });
  const { hash: whole } = await blobs.put(newBytes(mib), png);
  expect(await blobs.get(whole)).toMatchObject({ size: mib });
});

test('several servers that put, hold, sweep and delete at once keep all held blobs, and do not deadlock', async () => {
  const { schema, ...first } = await open();
  const second = await open(schema);
  const servers = [first, second];
  const contents = Array.from({ length: 6 }, () => newBytes(10));
  for (let round = 0; round < (atLength ? 40 : 4); round++) {
    const infos = await Promise.all(contents.map(async (bytes) => first.blobs.put(bytes, png)));
    const hashes = infos.map(({ hash }) => hash);
    // The sessions hold the blobs in different orders, and session `a` holds them twice; session `gone`, which holds
    // all blobs, is deleted at the same time.
    await first.blobs.hold('gone', hashes);
    const sessions = ['a', 'b', 'c', 'a', 'gone'];
    const holds = sessions.map(async (id, at) => {
      const turned = [...hashes.slice(at), ...hashes.slice(0, at)];
      return servers[at % 2]!.blobs.hold(id, at % 2 === 0 ? turned : turned.toReversed());
    });
    const others = [
      second.blobs.sweep(later()),
      second.store.deleteSession('gone'),
      first.store.deleteSession('gone'),
      ...contents.map(async (bytes) => second.blobs.put(bytes, { ...png, sessionId: 'd' })),
    ];
    const missing = await Promise.all(holds);
    await Promise.all(others);
    for (const hash of hashes) expect(await first.blobs.get(hash)).toBeDefined();
    const held = await ask(`SELECT DISTINCT session_id FROM ${schema}.blob_holders`);
    const ids = new Set(held.map(({ session_id }) => session_id));
    const kept = sessions.filter((id, at) => missing[at]?.length === 0 && id !== 'gone');
    for (const id of ['d', ...kept]) expect(ids).toContain(id);
    await Promise.all(
      ['a', 'b', 'c', 'd', 'gone'].map(async (id, at) => servers[at % 2]!.store.deleteSession(id)),
    );
    await first.blobs.sweep(later());
    expect(await ask(`SELECT hash FROM ${schema}.blobs`)).toEqual([]);
  }
});

test.each([-3, 3])(
  'SAFE: an upload by a server whose clock is %d days off waits by the clock of the database',
  async (days) => {
    const { blobs } = await open();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ now: Date.now() + days * 24 * 60 * minuteMs, toFake: ['Date'] });
    const { hash } = await blobs.put(newBytes(10), png);
    const now = await blobs.now();
    vi.useRealTimers();
    expect(Math.abs(now - Date.now())).toBeLessThan(24 * 60 * minuteMs);
    expect(await blobs.sweep(now - minuteMs)).toBe(0);
    expect(await blobs.get(hash)).toBeDefined();
    expect(await blobs.sweep(now + minuteMs)).toBe(1);
  },
);

describe('a hold during the end of a session', () => {
  /** Another server in the middle of a hold, which has locked a blob. */
  async function lockAs(schema: string, hash: string) {
    const other = new Client(server.url);
    await other.connect();
    await other.query(`BEGIN; SET search_path TO ${schema}`);
    await other.query('SELECT 1 FROM blobs WHERE hash = $1 FOR UPDATE', [hash]);
    return other;
  }

  const waiting = async () =>
    (await ask(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).length;

  /** Blobs that no sweep would remove, with their holders. */
  const keptIn = async (schema: string) =>
    ask(`SELECT hash, session_id FROM ${schema}.blobs
         LEFT JOIN ${schema}.blob_holders USING (hash) WHERE waiting_since IS NULL`);

  test('for another session keeps the blob', async () => {
    const { blobs, store, schema } = await open();
    const { hash } = await blobs.put(newBytes(10), { ...png, sessionId: 'session-1' });
    const other = await lockAs(schema, hash);
    await other.query('INSERT INTO blob_holders VALUES ($1, $2)', ['session-2', hash]);
    const ending = store.deleteSession('session-1');
    await expect.poll(waiting).toBe(1);
    await other.query('COMMIT');
    await other.end();
    await ending;
    expect(await keptIn(schema)).toEqual([{ hash, session_id: 'session-2' }]);
  });

  test('for the same session takes effect before or after the end', async () => {
    const { blobs, store, schema } = await open();
    const [first, second] = [
      await blobs.put(newBytes(10), png),
      await blobs.put(newBytes(11), png),
    ];
    await blobs.hold('session-1', [first.hash]);
    const other = await lockAs(schema, first.hash);
    const ending = store.deleteSession('session-1');
    await expect.poll(waiting).toBe(1);
    let isHeld = false;
    const holding = blobs.hold('session-1', [second.hash]).finally(() => {
      isHeld = true;
    });
    await expect.poll(async () => isHeld || (await waiting()) === 2).toBe(true);
    await other.end();
    await Promise.all([ending, holding]);
    expect(await keptIn(schema)).toEqual([{ hash: second.hash, session_id: 'session-1' }]);
  });
});

testAtLength(
  'a full disk refuses a put, stores none of it, and accepts it when there is space',
  async () => {
    const { blobs, store, schema } = await open();
    const { hash } = await blobs.put(newBytes(mib), { ...png, sessionId: 'session-1' });
    const backends = await ask(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'liminal'`,
    );
    // No file may grow beyond 18 MiB; files of PostgreSQL's log have 16 MiB from their start.
    const limit = (most: string) => {
      for (const { pid } of backends) {
        // Only a process of the same user may set the limit.
        const { uid, gid } = statSync(`/proc/${String(pid)}`);
        execFileSync('prlimit', ['--pid', String(pid), most], { uid, gid });
      }
    };
    limit(`--fsize=${18 * mib}:`);
    const large = newBytes(20 * mib);
    await expect(blobs.put(large, { ...png, sessionId: 'session-2' })).rejects.toMatchObject({
      code: 'STORE_WRITE_FAILED',
      message: expect.stringMatching(/could not extend file.*can be tried again/s),
    });
    expect(await ask(`SELECT hash FROM ${schema}.blobs`)).toEqual([{ hash }]);
    expect(await blobs.get(hash)).toMatchObject({ size: mib });
    limit('--fsize=unlimited:');
    const stored = await blobs.put(large, { ...png, sessionId: 'session-1' });
    const read = await blobs.get(stored.hash);
    expect(Buffer.compare(read?.bytes ?? large.subarray(1), large)).toBe(0);
    await store.deleteSession('session-1');
    expect(await ask(`SELECT hash FROM ${schema}.blobs`)).toEqual([]);
  },
);

describe('a database that becomes unavailable', () => {
  test('fails requests with a reason, and serves again when it is back', async () => {
    const { store } = await open();
    const saved = response('run-1', ['a', 'b']);
    await store.saveResponse(saved);
    await server.kill();
    for (const _ of ['first', 'again']) {
      await expect(store.saveResponse(response('run-2', ['c']))).rejects.toMatchObject({
        code: 'STORE_WRITE_FAILED',
        message: expect.stringContaining('can be tried again'),
      });
      await expect(store.getResponse('run-1')).rejects.toMatchObject({ code: 'STORE_READ_FAILED' });
    }
    await server.restart();
    await expect
      .poll(async () => store.getResponse('run-1').catch(String), { timeout: 60_000 })
      .toEqual(saved);
    await store.saveResponse(response('run-2', ['c']));
    expect((await store.listRuns('session-1'))?.map(({ id }) => id)).toEqual(['run-1', 'run-2']);
  });

  test('during many writes loses no acknowledged write, and stores no partial write', async () => {
    const { store } = await open();
    const acknowledged: string[] = [];
    const writes = Array.from({ length: 200 }, async (_, at) => {
      const id = `mid-${at}`;
      const run = response(id, Array(20).fill('text'), { sessionId: 'session-2' });
      await store.saveResponse(run).then(
        () => acknowledged.push(id),
        () => undefined,
      );
      if (at === 0) await server.kill();
    });
    await Promise.all(writes);
    await server.restart();
    await expect
      .poll(async () => store.listRuns('nobody').catch(String), { timeout: 60_000 })
      .toEqual([]);
    for (const id of acknowledged)
      expect((await store.getResponse(id))?.outputItems).toHaveLength(20);
    for (const { id } of (await store.listRuns('session-2')) ?? []) {
      expect((await store.getResponse(id))?.outputItems).toHaveLength(20);
    }
  });

  test('fails requests for blobs with a reason, and has all acknowledged blobs when it is back', async () => {
    const { blobs, store, schema } = await open();
    const first = await blobs.put(newBytes(mib), { ...png, sessionId: 'session-1' });
    const acknowledged: string[] = [];
    const puts = Array.from({ length: 60 }, async (_, at) => {
      const sessionId = `session-${at % 3}`;
      const options = at % 2 === 0 ? { ...png, sessionId } : png;
      await blobs.put(newBytes(200_000), options).then(
        ({ hash }) => acknowledged.push(hash),
        () => undefined,
      );
      if (acknowledged.length === 5) await server.kill();
    });
    await Promise.all(puts);
    expect(acknowledged.length).toBeLessThan(60);
    const failures = { code: 'STORE_WRITE_FAILED', message: expect.stringContaining('again') };
    await expect(blobs.put(newBytes(1), png)).rejects.toMatchObject(failures);
    await expect(blobs.hold('session-1', [first.hash])).rejects.toMatchObject(failures);
    await expect(blobs.sweep(later())).rejects.toMatchObject(failures);
    await expect(blobs.get(first.hash)).rejects.toMatchObject({ code: 'STORE_READ_FAILED' });
    await server.restart();
    const readFirst = async () => (await blobs.get(first.hash))?.size;
    await expect.poll(async () => readFirst().catch(String), { timeout: 60_000 }).toBe(first.size);
    const there = (await ask(`SELECT hash FROM ${schema}.blobs`)).map(({ hash }) => String(hash));
    expect(there).toEqual(expect.arrayContaining(acknowledged));
    // `get` throws if the bytes of a blob do not match its hash.
    for (const hash of there) expect(await blobs.get(hash)).toBeDefined();
    await blobs.sweep(later());
    for (let at = 0; at < 3; at++) await store.deleteSession(`session-${at}`);
    expect(await ask(`SELECT hash FROM ${schema}.blobs`)).toEqual([]);
  });
});

test('after a connection was silent for too long, neither it nor other connections that may be silent are used again', async () => {
  const way = await cuttable(server.port);
  const url = `postgresql://liminal@127.0.0.1:${way.port}/postgres?query_timeout=4000`;
  const { store, close } = await openPostgres(url, { schema: 'silent' });
  onTestFinished(close);
  const saved = sessionRecord('session-1');
  await store.saveSession(saved);
  // Opens several connections, which the pool keeps.
  await Promise.all(Array.from({ length: 8 }, () => store.getSession('session-1')));
  way.silence();
  await expect(store.getSession('session-1')).rejects.toMatchObject({ code: 'STORE_READ_FAILED' });
  expect(await store.getSession('session-1')).toEqual(saved);
  const reads = Array.from({ length: 8 }, () => store.getSession('session-1'));
  expect(await Promise.all(reads)).toEqual(Array(8).fill(saved));
  await store.saveSession(sessionRecord('session-2'));
  const left = `SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;
  expect(await ask(left)).toEqual([]);
});
