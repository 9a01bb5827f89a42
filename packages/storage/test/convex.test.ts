import { makeFunctionReference } from 'convex/server';
import type { Response } from '@liminal/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConvexCaller } from '../src/convex/deployment.ts';
import { openDeployment } from '../src/convex/open.ts';
import { openConvex } from '../src/convex/index.ts';
import {
  blobSuite,
  damageSuite,
  grantsSuite,
  itemPagesSuite,
  partOf,
  responseStoreSuite,
  searchSuite,
} from '../src/testing/index.ts';
import { response, sessionRecord } from '../src/testing/records.ts';
import { deploy, modules, secret, serve, watched } from './convex-deployment.ts';

type Change = (json: string) => string;

async function setup() {
  const { backend, caller, size: sizeOf, tidied } = deploy();
  const size = async () => sizeOf('blobs', 'parts');
  const edit = {
    session: async (change: Change) =>
      backend.run(async ({ db }) => {
        for (const one of await db.query('records').collect())
          await db.patch(one._id, { text: change(one.text) });
      }),
    head: async (change: Change) =>
      backend.run(async ({ db }) => {
        for (const one of await db.query('messages').collect())
          await db.patch(one._id, { head: change(one.head) });
      }),
    item: async (change: Change) =>
      backend.run(async ({ db }) => {
        for (const one of await db.query('items').collect())
          await db.patch(one._id, { text: change(one.text) });
      }),
    grant: async (change: Change) =>
      backend.run(async ({ db }) => {
        for (const one of await db.query('grants').collect())
          await db.patch(one._id, { record: change(one.record) });
      }),
  };
  const damage = async (kind: keyof typeof edit, change: Change) => edit[kind](change);
  const open = async () => ({ ...(await openDeployment(caller, secret)), size, damage });
  return {
    subject: await open(),
    reopen: open,
    teardown: tidied,
  };
}

describe('convex response store', () => {
  responseStoreSuite(partOf(setup, 'store'), 'part');
});

describe('convex grants', () => {
  grantsSuite(partOf(setup, 'store'));
});

describe('convex damage', () => {
  damageSuite(setup, { listsIds: false });
});

describe('convex pages of items', () => {
  itemPagesSuite(partOf(setup, 'store'), 'part');
});

describe('convex search', () => {
  searchSuite(partOf(setup, 'store'), 'part');
});

describe('convex blobs', () => {
  blobSuite(setup, 'part');
});

describe('several servers on one deployment', () => {
  test('of concurrent snapshots the newest is stored, whole', async () => {
    const { caller, tidied } = deploy();
    const servers = [await openDeployment(caller, secret), await openDeployment(caller, secret)];
    const stores = servers.map(({ store }) => store);
    // Small runs take one call, and large runs several.
    for (const size of [3, 3_000]) {
      const run = `run-${size}`;
      const snapshots = Array.from({ length: 6 }, (_, seq) => {
        const texts = Array.from({ length: size - seq }, (_text, at) => `${seq} ${at}`);
        return response(run, texts, { lastSeq: seq, status: 'in_progress' });
      });
      for (const round of [snapshots.slice(0, 3), snapshots.slice(3).toReversed()]) {
        await Promise.all(round.map(async (each, at) => stores[at % 2]!.saveResponse(each)));
      }
      for (const store of stores) {
        expect(await store.getResponse(run)).toStrictEqual(snapshots.at(-1));
      }
    }
    await tidied();
  });

  test('add grants at once without losing any', async () => {
    const { caller } = deploy();
    const { store: one } = await openDeployment(caller, secret);
    const { store: other } = await openDeployment(caller, secret);
    const grants = ['a', 'b', 'c', 'd'].map((rule) => ({ rule, title: rule, grantedAt: '2026' }));
    await Promise.all(
      grants.flatMap((each) => [one.addGrant('p', each), other.addGrant('p', each)]),
    );
    const rules = (await one.listGrants('p')).map(({ rule }) => rule);
    expect(rules.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a server that has saved a run before notices that another server has saved it since', async () => {
    const { caller } = deploy();
    const { store: one } = await openDeployment(caller, secret);
    const { store: other } = await openDeployment(caller, secret);
    const under = { status: 'in_progress' } as const;
    await one.saveResponse(response('run-1', ['a', 'b', 'c'], { ...under, lastSeq: 1 }));
    await other.saveResponse(response('run-1', ['x', 'y', 'z'], { ...under, lastSeq: 2 }));
    const last = response('run-1', ['a', 'b', 'c', 'd'], { ...under, lastSeq: 3 });
    await one.saveResponse(last);
    expect(await other.getResponse('run-1')).toStrictEqual(last);
  });
});

test('a snapshot that grows sends only the changed items', async () => {
  const { calls, caller } = watched(deploy().caller);
  const { store } = await openDeployment(caller, secret);
  const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`);
  await store.saveResponse(response('run-1', texts, { status: 'in_progress' }));
  const grown = response('run-1', [...texts.slice(0, -1), 'changed', 'new'], {
    lastSeq: 999,
    status: 'in_progress',
  });
  await store.saveResponse(grown);
  expect(calls.at(-1)?.args['runs']).toMatchObject([{ rows: [{ index: 299 }, { index: 300 }] }]);
  expect(await store.getResponse('run-1')).toStrictEqual(grown);
});

interface SavedRun {
  message: Record<string, unknown>;
}

describe('usage, finish reason and error are columns', () => {
  const columnsOf = async (rest: Partial<Response>) => {
    const { calls, caller } = watched(deploy().caller);
    const { store } = await openDeployment(caller, secret);
    const saved = { ...response('run-1', ['text']), ...rest };
    await store.saveResponse(saved);
    expect(await store.getResponse('run-1')).toStrictEqual(saved);
    const [run] = calls.flatMap(({ args }) => args['runs'] ?? []) as SavedRun[];
    const { usage, finishReason, error } = run?.message ?? {};
    return { usage, finishReason, error };
  };

  test('FR-001-14: of a turn that completed', async () => {
    const usage = { inputTokens: 12, outputTokens: 5, cacheReadInputTokens: 9, costUsd: 0.5 };
    expect(await columnsOf({ usage, finishReason: 'end_turn' })).toEqual({
      usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
      finishReason: 'end_turn',
    });
  });

  test('FR-001-14: of a turn that failed', async () => {
    const error = { code: 'RATE_LIMITED', message: 'Too many.', details: { at: 1 } };
    expect(await columnsOf({ status: 'error', error, finishReason: null })).toEqual({
      error: { code: 'RATE_LIMITED', message: 'Too many.' },
    });
  });
});

describe('the secret', () => {
  const at = { runId: 'run-1', sessionId: 'session-1', threadId: 'session-1' };
  const session = {
    sessionId: 's',
    projectId: 'p',
    active: true,
    createdAt: '',
    updatedAt: '',
    fence: 0,
    titleWords: '',
  };
  const stage = { mimeType: 'a', since: 1, from: 0, parts: [] };
  const functionsOn = (blob: unknown): [string, 'query' | 'mutation', object][] => [
    ['version:get', 'query', {}],
    ['grants:list', 'query', { projectId: 'p' }],
    ['grants:add', 'mutation', { projectId: 'p', rule: 'r', record: '{}' }],
    ['grants:remove', 'mutation', { projectId: 'p', rule: 'r' }],
    ['sessions:get', 'query', { sessionId: at.sessionId }],
    ['sessions:list', 'query', {}],
    ['sessions:save', 'mutation', { session, record: [] }],
    ['sessions:take', 'mutation', { sessionId: at.sessionId, fence: 1 }],
    ['sessions:remove', 'mutation', { sessionId: at.sessionId, ids: [] }],
    ['responses:save', 'mutation', { runs: [] }],
    ['responses:begin', 'mutation', { runId: at.runId }],
    ['responses:stage', 'mutation', { runId: at.runId, generation: 1, rows: [] }],
    ['deleted:find', 'query', { ids: ['a'] }],
    ['history:head', 'query', { runId: at.runId }],
    ['history:runs', 'query', { threadId: at.threadId }],
    ['history:page', 'query', { threadId: at.threadId, limit: 1 }],
    ['history:items', 'query', { ranges: [] }],
    ['history:calls', 'query', { runId: at.runId, hashes: [], side: 'from', index: 0, most: 1 }],
    ['search:titles', 'query', { words: 'a' }],
    ['search:items', 'query', { words: 'a' }],
    ['blobs:keep', 'mutation', { hash: 'a', since: 1 }],
    ['blobs:stage', 'mutation', stage],
    ['blobs:hold', 'mutation', { hashes: ['a'] }],
    ['blobs:sweep', 'mutation', { before: 1, cursor: null }],
    ['blobs:find', 'query', { hash: 'a' }],
    ['blobs:read', 'query', { blob, from: 0 }],
  ];

  test('is required by every public function', async () => {
    const found: string[] = [];
    for (const [path, load] of Object.entries(modules)) {
      const exported = Object.entries<{ isPublic?: boolean }>(await load());
      const names = exported.flatMap(([name, value]) => (value?.isPublic ? [name] : []));
      found.push(...names.map((name) => `${/(\w+)\.ts$/.exec(path)?.[1]}:${name}`));
    }
    const { caller } = deploy();
    // The id must be valid, or the call is refused for that reason.
    const reference = makeFunctionReference<'mutation'>('blobs:stage');
    const functions = functionsOn(await caller.mutation(reference, { ...stage, secret }));
    expect(found.toSorted()).toEqual(functions.map(([name]) => name).toSorted());
    for (const wrong of ['', 'wrong']) {
      for (const [name, kind, args] of functions) {
        const call =
          kind === 'query'
            ? caller.query(makeFunctionReference<'query'>(name), { ...args, secret: wrong })
            : caller.mutation(makeFunctionReference<'mutation'>(name), { ...args, secret: wrong });
        await expect(call, name).rejects.toThrow('LIMINAL_SECRET');
      }
    }
  });

  test('gives no access if the deployment has no secret', async () => {
    process.env['LIMINAL_SECRET'] = '';
    onTestFinished(() => {
      process.env['LIMINAL_SECRET'] = secret;
    });
    await expect(openDeployment(deploy().caller, '')).rejects.toThrow('LIMINAL_SECRET');
  });
});

describe('over HTTP', () => {
  test('FR-001-14: a store works as it does in memory', async () => {
    const { url, close } = await serve(deploy().caller);
    onTestFinished(close);
    const { store: one } = await openConvex(url, secret);
    const { store: other } = await openConvex(url, secret);
    await one.saveSession(sessionRecord('session-1', { title: 'Grüße \uD800 🧵' }));
    expect(await other.getSession('session-1')).toMatchObject({ title: 'Grüße \uD800 🧵' });
    const under = { status: 'in_progress' } as const;
    for (const [at, store] of [one, other, one].entries()) {
      const saved = response('run-1', ['a', `b ${at}`], { ...under, lastSeq: at });
      await store.saveResponse(saved);
      expect(await other.getResponse('run-1')).toStrictEqual(saved);
    }
  });

  test('an error names the problem and the deployment that cannot be reached', async () => {
    const { url, close } = await serve(deploy().caller);
    await expect(openConvex(url, 'wrong')).rejects.toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining('LIMINAL_SECRET'),
    });
    const { store } = await openConvex(url, secret);
    await close();
    await expect(store.getSession('session-1')).rejects.toMatchObject({
      code: 'STORE_READ_FAILED',
    });
    await expect(store.saveResponse(response('run-1', ['a']))).rejects.toMatchObject({
      code: 'STORE_WRITE_FAILED',
    });
    await expect(openConvex(url, secret)).rejects.toMatchObject({ code: 'DATABASE_UNUSABLE' });
  });

  test('functions of another version are refused with a sentence', async () => {
    const answering = (version: number): ConvexCaller => ({
      query: async () => version,
      mutation: async () => undefined,
    });
    await expect(openDeployment(answering(999), secret)).rejects.toMatchObject({
      code: 'DATA_TOO_NEW',
      message: expect.stringMatching(/newer Liminal.*Update/),
    });
    await expect(openDeployment(answering(2), secret)).rejects.toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringMatching(/older Liminal.*Deploy/),
    });
  });
});
