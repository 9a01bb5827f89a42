/**
 * Tests arbitrary values in a log or a store: reads return the values that were written, and other sessions are served
 * at the same time.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  emptyResponse,
  foldResponse,
  isTerminal,
  type Response,
  type StreamEvent,
  toResponse,
} from '@liminal/protocol';
import { type EventLog, type ResponseStore } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { openPostgres } from '@liminal/storage/postgres';
import { openRedis } from '@liminal/storage/redis';
import { openSqliteStorage } from '@liminal/storage/sqlite';
import { testPostgres, testRedis } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { response, sessionRecord } from '../../../packages/storage/src/testing/records.ts';
import { patience } from '../length.ts';
import { hostileRun } from './events.ts';
import { playHostile, share } from './play.ts';
import { hostileStream } from './stream.ts';
import { oddNames } from './value.ts';

/** A log, a store, or both. If the store has a file, also the file's size in bytes. */
interface Subject {
  log?: EventLog;
  store?: ResponseStore;
  size?: () => Promise<number>;
}

async function memory(): Promise<Subject> {
  const storage = openMemoryStorage();
  onTestFinished(() => storage.close());
  return storage;
}

async function sqlite(): Promise<Subject> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-stores-'));
  const storage = await openSqliteStorage(dataDir);
  onTestFinished(async () => {
    await storage.close();
    await rm(dataDir, { recursive: true });
  });
  const size = async () => {
    const names = await readdir(dataDir);
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(dataDir, name))).size),
    );
    return sizes.reduce((sum, one) => sum + one, 0);
  };
  return { ...storage, size };
}

async function redis(): Promise<Subject> {
  const server = await testRedis();
  const opened = await openRedis({ url: server.url, prefix: server.newPrefix() });
  onTestFinished(async () => {
    await opened.close();
    await server.release();
  });
  return { log: opened.log };
}

async function postgres(): Promise<Subject> {
  const server = await testPostgres();
  const { store } = await openPostgres(server.url, { schema: server.newSchema() });
  onTestFinished(async () => {
    await store.close();
    await server.release();
  });
  return { store };
}

/** Asserts that both values have the same JSON. Texts of many MiB are compared without being printed. */
function expectSame(read: unknown, written: unknown, what: string): void {
  const [is, was] = [JSON.stringify(read), JSON.stringify(written)];
  let at = 0;
  while (is !== was && is?.[at] === was?.[at]) at += 1;
  expect(
    is === was,
    `${what}, from ${at} on: ${is?.slice(at, at + 80)}, not ${was?.slice(at, at + 80)}`,
  ).toBe(true);
}

/** Returns a run's events up to and including its first end, because later events are rejected. */
function upToEnd(events: StreamEvent[]): StreamEvent[] {
  const end = events.findIndex(isTerminal);
  return end < 0 ? events : events.slice(0, end + 1);
}

async function tryLog(log: EventLog, runId: string, events: StreamEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += 200) {
    await log.append(runId, events.slice(from, from + 200));
  }
  expectSame(await log.read(runId), events, 'events');
  expectSame(await log.read(runId, { after: 0, limit: 2 }), events.slice(1, 3), 'some events');
  await log.settle(runId);
  expect(await log.read(runId)).toEqual([]);
}

/** Stores a run, and checks that it is read back correctly. Returns the size of the stored text in characters. */
async function tryStore(store: ResponseStore, said: Response): Promise<number> {
  const { sessionId, outputItems } = said;
  const words = JSON.stringify(outputItems).slice(0, 300);
  const record = sessionRecord(sessionId, { title: words, projectId: words });
  await store.saveSession(record);
  expect(await store.getSession(sessionId)).toEqual(record);
  await store.saveResponse(said);
  const read = await store.getResponse(said.id);
  expectSame(read?.outputItems, outputItems, 'run');
  expect({ ...read, outputItems: [] }).toEqual(
    JSON.parse(JSON.stringify({ ...said, outputItems: [] })),
  );
  const items: unknown[] = [];
  for (let before: { runId: string; index: number } | undefined; ;) {
    const wanted = { limit: 200, size: 1024 * 1024, ...(before && { before }) };
    const page = await store.readItems(sessionId, wanted);
    items.unshift(...page.items.map(({ item }) => item));
    [before] = page.items;
    if (!page.hasMore || before === undefined) break;
  }
  expectSame(items, outputItems, 'pages of items');
  for (const { text } of [{ text: words }, { text: 'word' }, { text: sessionId }]) {
    expect((await store.search({ text, projectId: words, limit: 5 })).length).toBeLessThanOrEqual(
      5,
    );
  }
  return JSON.stringify(read).length;
}

test.each([
  ['memory', memory],
  ['SQLite', sqlite],
  ['Redis', redis],
  ['PostgreSQL', postgres],
])(
  'SAFE: %s returns arbitrary values unchanged, and other sessions continue',
  { timeout: patience(share(5)) },
  async (_, open) => {
    const { log, store, size } = await open();
    let count = 0;
    let total = 0;
    const healthy = response('healthy', ['I am well.'], { sessionId: 'healthy' });
    await playHostile(share(5), hostileStream, async (stream) => {
      count += 1;
      // Every second name combines all odd names.
      const odd = count % 2 === 0 ? oddNames.join('') : oddNames[count % oddNames.length];
      const name = `${odd} ${count}`;
      const run = { sessionId: `s ${name}`, turnId: `t ${name}`, runId: `r ${name}` };
      const events = upToEnd(hostileRun(stream, run));
      const folded = toResponse(events.reduce(foldResponse, emptyResponse()));
      if (folded === undefined) throw new Error('The run has not begun.');
      const [stored] = await Promise.all([
        store && tryStore(store, folded),
        log && tryLog(log, run.runId, events),
        store?.saveResponse({ ...healthy, lastSeq: count }),
      ]);
      const other = store && (await store.getResponse('healthy'));
      expect(other).toEqual(store && { ...healthy, lastSeq: count });
      const said = JSON.stringify(events).length;
      total += said;
      return stored === undefined ? { inputSize: said } : { inputSize: said, stored };
    });
    // The file also contains the search index, and the former contents of the log.
    expect((await size?.()) ?? 0, `bytes, of ${total}`).toBeLessThan(6 * total + 64 * 1024 * 1024);
  },
);
