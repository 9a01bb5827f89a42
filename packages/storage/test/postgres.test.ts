import type { OutputItem } from '@liminal/protocol';
import { testPostgres, type TestPostgres } from '@liminal/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../src/postgres/index.ts';
import {
  blobSuite,
  damageSuite,
  eventArchiveSuite,
  grantsSuite,
  itemPagesSuite,
  partOf,
  responseStoreSuite,
  searchSuite,
} from '../src/testing/index.ts';
import { headOf, response, sessionRecord } from '../src/testing/records.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(async () => postgres.release());

/** Queries the database directly. */
async function ask(sql: string, url = postgres.url): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The storage of `count` servers on one database, all opened at once. */
async function openServers(count: number, schema = postgres.newSchema()) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => openPostgres(postgres.url, { schema })),
  );
  const stores = servers.map(({ store }) => store);
  onTestFinished(async () => {
    await Promise.all(servers.map(async (server) => server.close()));
    await ask(`DROP SCHEMA ${schema} CASCADE`);
  });
  return { stores, schema };
}

const columns = {
  session: ['sessions', 'record'],
  head: ['responses', 'head'],
  item: ['items', 'item'],
  grant: ['grants', 'record'],
} as const;

async function setup() {
  const schema = postgres.newSchema();
  let database = await openPostgres(postgres.url, { schema });
  /** The bytes of the blobs and their related data, without old rows, which PostgreSQL removes in its own time. */
  const size = async () => {
    await ask(`VACUUM FULL ${schema}.blobs`);
    const sql = `SELECT pg_total_relation_size('${schema}.blobs') AS bytes`;
    return Number((await ask(sql))[0]?.['bytes']);
  };
  const damage = async (kind: keyof typeof columns, change: (json: string) => string) => {
    const [table, column] = columns[kind];
    const client = new Client(postgres.url);
    await client.connect();
    const { rows } = await client.query<{ at: string; json: string }>(
      `SELECT ctid::text AS at, ${column} AS json FROM ${schema}.${table}`,
    );
    for (const { at, json } of rows) {
      const text = `UPDATE ${schema}.${table} SET ${column} = $1 WHERE ctid = $2::tid`;
      if (change(json) !== json) await client.query(text, [change(json), at]);
    }
    await client.end();
  };
  return {
    subject: { ...database, size, damage },
    reopen: async () => {
      await database.close();
      database = await openPostgres(postgres.url, { schema });
      return { ...database, size, damage };
    },
    teardown: async () => {
      await database.close();
      await ask(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}

describe('postgres response store', () => {
  responseStoreSuite(partOf(setup, 'store'), 'part');
});

describe('postgres event archive', () => {
  eventArchiveSuite(setup);
});

describe('postgres grants', () => {
  grantsSuite(partOf(setup, 'store'));
});

describe('postgres damage', () => {
  damageSuite(setup);
});

describe('postgres pages of items', () => {
  itemPagesSuite(partOf(setup, 'store'), 'part');
});

describe('postgres search', () => {
  searchSuite(partOf(setup, 'store'), 'part');
});

describe('postgres blobs', () => {
  blobSuite(setup, 'part');
});

describe('several servers on one database', () => {
  test('that start at once create the tables once', async () => {
    const { stores, schema } = await openServers(6);
    await stores[0]!.saveSession(sessionRecord('session-1'));
    expect(await stores[5]!.getSession('session-1')).toEqual(sessionRecord('session-1'));
    expect(await ask(`SELECT version FROM ${schema}.data_version`)).toEqual([{ version: 6 }]);
  });

  test('tables from before the index of calls are migrated', async () => {
    const { stores, schema } = await openServers(1);
    const answer = { id: 'out', callId: 'c\u0000', output: 'Done', success: true } as const;
    const outputItems: OutputItem[] = [
      { ...answer, type: 'function_call_output', origin: 'system' },
    ];
    await stores[0]!.saveResponse(response('run-1', [], { outputItems }));
    await ask(`ALTER TABLE ${schema}.items DROP COLUMN call_hash`);
    await ask(`UPDATE ${schema}.data_version SET version = 5`);
    const again = await openPostgres(postgres.url, { schema });
    const wanted = { runId: 'run-1', keys: ['tool:c\u0000'], side: 'from', index: 0 } as const;
    expect(await again.store.readCalls(wanted)).toMatchObject([{ index: 0, item: answer }]);
    await again.close();
  });

  test('of concurrent snapshots the newest is stored, whole', async () => {
    const { stores } = await openServers(3);
    for (let round = 0; round < 5; round++) {
      const run = `run-${round}`;
      const snapshots = Array.from({ length: 12 }, (_, seq) => {
        const texts = Array.from({ length: 1 + ((seq * 7) % 12) }, (_, at) => `${seq} ${at}`);
        return response(run, texts, { lastSeq: seq });
      });
      const saves = snapshots
        .toSorted((a, b) => ((a.lastSeq * 5) % 12) - ((b.lastSeq * 5) % 12))
        .map(async (snapshot, at) => stores[at % 3]!.saveResponse(snapshot));
      await Promise.all(saves);
      expect(await stores[0]!.getResponse(run)).toStrictEqual(snapshots.at(-1));
      expect(await stores[1]!.readItems('session-1', { limit: 4 })).toMatchObject({
        items: Array(4).fill({ runId: run }),
      });
    }
  });

  test('that add grants at once lose none, and store each once', async () => {
    const { stores } = await openServers(3);
    const grants = Array.from({ length: 30 }, (_, at) => ({
      rule: `command:${at % 10}`,
      title: `command ${at % 10}`,
      grantedAt: '2026-01-01T00:00:00.000Z',
    }));
    const adds = grants.map(async (one, at) => stores[at % 3]!.addGrant('project-1', one));
    await Promise.all([...adds, stores[1]!.removeGrant('project-1', 'command:x')]);
    const rules = (await stores[2]!.listGrants('project-1')).map(({ rule }) => rule);
    expect(rules.toSorted()).toEqual(grants.slice(0, 10).map(({ rule }) => rule));
  });

  test('of concurrent owners the one with the greatest fence is stored', async () => {
    const { stores } = await openServers(3);
    const owned = Array.from({ length: 12 }, (_, at) =>
      sessionRecord('session-1', { fence: (at * 7) % 12, title: `owner ${(at * 7) % 12}` }),
    );
    const saves = owned.map(async (record, at) => stores[at % 3]!.saveSession(record));
    const refused = (await Promise.allSettled(saves)).filter(({ status }) => status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'STALE_OWNER' });
    }
    expect(await stores[0]!.getSession('session-1')).toMatchObject({ title: 'owner 11' });
  });

  test('runs keep their order for concurrent readers', async () => {
    const { stores } = await openServers(3);
    const all = Array.from({ length: 60 }, (_, at) => `run-${at}`);
    const saving = Promise.all(
      stores.slice(0, 2).map(async (store, which) => {
        for (const id of all.filter((_, at) => at % 2 === which)) {
          await store.saveResponse(response(id, ['a', 'b']));
        }
      }),
    );
    let seen: string[] = [];
    while (seen.length < all.length) {
      const heads = (await stores[2]!.listRuns('session-1')) ?? [];
      const ids = heads.map(({ id }) => id);
      expect(ids.slice(0, seen.length)).toEqual(seen);
      seen = ids;
    }
    await saving;
    expect(seen.toSorted()).toEqual(all.toSorted());
  });

  test('imports of the same runs do not deadlock', async () => {
    const { stores } = await openServers(2);
    const runs = Array.from({ length: 20 }, (_, at) =>
      response(`run-${at}`, ['a'], { sessionId: `session-${at % 4}` }),
    );
    await Promise.all([
      stores[0]!.importResponses(runs),
      stores[1]!.importResponses(runs.toReversed()),
    ]);
    const heads = await stores[0]!.listRuns('session-1');
    expect(heads).toHaveLength(5);
    expect(heads).toEqual(expect.arrayContaining([headOf(runs[1]!)]));
  });
});

test('a page reads no more items than it shows', async () => {
  const { stores, schema } = await openServers(1);
  const runs = Array.from({ length: 40 }, (_, at) => response(`run-${at}`, Array(50).fill('x')));
  await stores[0]!.importResponses(runs);
  await ask(`ANALYZE ${schema}.items, ${schema}.responses`);
  const read = async () => {
    const sql = `SELECT idx_tup_fetch + seq_tup_read AS count FROM pg_stat_all_tables
                 WHERE schemaname = '${schema}' AND relname = 'items'`;
    return Number((await ask(sql))[0]?.['count']);
  };
  // A connection's counts are reported when it ends.
  await stores[0]!.close();
  const before = await read();
  const again = await openPostgres(postgres.url, { schema });
  const page = await again.store.readItems('session-1', {
    before: { runId: 'run-30', index: 5 },
    limit: 20,
  });
  await again.close();
  expect(page.items).toHaveLength(20);
  expect(page.heads.map(({ id }) => id)).toEqual(['run-29', 'run-30']);
  await expect.poll(read, { timeout: 20_000 }).toBeGreaterThan(before);
  expect((await read()) - before).toBeLessThan(30);
});

test('a snapshot that grows sends and writes only the changed items', async () => {
  const { stores, schema } = await openServers(1);
  const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`);
  await stores[0]!.saveResponse(response('run-1', texts, { status: 'in_progress' }));
  const places = async () => ask(`SELECT item_index, ctid::text FROM ${schema}.items ORDER BY 1`);
  const before = await places();
  const grown = response('run-1', [...texts.slice(0, -1), 'changed', 'new'], {
    lastSeq: 999,
    status: 'in_progress',
  });
  await stores[0]!.saveResponse(grown);
  expect((await places()).slice(0, 299)).toEqual(before.slice(0, 299));
  expect(await stores[0]!.getResponse('run-1')).toStrictEqual(grown);
});

test('ids may have characters that PostgreSQL cannot store', async () => {
  const { stores } = await openServers(1);
  const odd = ['\u0000', '\uD800', '"\\', '\\u0000', '🧵'];
  for (const id of odd) {
    await stores[0]!.saveSession(sessionRecord(id, { projectId: id }));
    await stores[0]!.saveResponse(response(`run ${id}`, [id], { sessionId: id }));
  }
  for (const id of odd) {
    expect(await stores[0]!.getSession(id)).toMatchObject({ sessionId: id });
    expect(await stores[0]!.listSessions({ projectId: id })).toHaveLength(1);
    const { items } = await stores[0]!.readItems(id, { limit: 10 });
    expect(items.map(({ runId }) => runId)).toEqual([`run ${id}`]);
  }
});

describe('a database', () => {
  test('written by a newer version is refused with a sentence, and not changed', async () => {
    const { schema } = await openServers(1);
    await ask(`UPDATE ${schema}.data_version SET version = 9999`);
    await expect(openPostgres(postgres.url, { schema })).rejects.toMatchObject({
      code: 'DATA_TOO_NEW',
      message: expect.stringMatching(/newer Liminal.*9999.*Update/),
    });
    expect(await ask(`SELECT version FROM ${schema}.data_version`)).toEqual([{ version: 9999 }]);
  });

  test('that cannot be used is refused with a reason, without its password', async () => {
    const url = new URL(postgres.url);
    url.password = 'secret';
    url.pathname = '/nowhere';
    const failure = await openPostgres(url.href).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining('no such database'),
    });
    expect(String(failure)).not.toContain('secret');
    await expect(openPostgres('postgresql://127.0.0.1:1/x')).rejects.toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringMatching(/127\.0\.0\.1:1\/x .*nothing listens there/),
    });
  });

  test('that refuses a part of a write refuses the whole write, with a reason', async () => {
    const { stores, schema } = await openServers(1);
    await ask(`ALTER TABLE ${schema}.items ADD CHECK (item NOT LIKE '%forbidden%')`);
    const saved = response('run-1', ['a', 'b']);
    await stores[0]!.saveResponse(saved);
    const refused = {
      code: 'STORE_WRITE_FAILED',
      message: expect.stringContaining('violates check constraint'),
    };
    const worse = response('run-1', ['changed', 'forbidden'], { lastSeq: 9 });
    await expect(stores[0]!.saveResponse(worse)).rejects.toMatchObject(refused);
    const runs = [response('run-2', ['fine']), response('run-3', ['forbidden'])];
    await expect(stores[0]!.importResponses(runs)).rejects.toMatchObject(refused);
    expect(await stores[0]!.getResponse('run-1')).toStrictEqual(saved);
    expect(await stores[0]!.listRuns('session-1')).toHaveLength(1);
  });
});
