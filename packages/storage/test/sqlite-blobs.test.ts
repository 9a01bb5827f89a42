/** Blobs in SQLite when their program is killed, and when the system reports a full disk. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openSqliteStorage } from '../src/sqlite/index.ts';

const kills = atLength ? 60 : 3;
const program = fileURLToPath(new URL('blob-writer.ts', import.meta.url));

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'liminal-blobs-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** Queries the database as another program does. */
function ask(sql: string): Record<string, unknown>[] {
  const other = new DatabaseSync(join(dataDir, 'liminal.db'));
  try {
    return other.prepare(sql).all();
  } finally {
    other.close();
  }
}

/** Starts a writer, and waits until it has opened the database. */
async function startWriter() {
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async () => (await lines.next()).value;
  expect(await hear()).toBe('ready');
  const tell = (line: string) => void child.stdin.write(`${line}\n`);
  const ask = async (line: string) => {
    tell(line);
    return hear();
  };
  const kill = async () => {
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
  };
  return { pid: child.pid ?? 0, tell, hear, ask, kill };
}

/** A blob that a writer reported as stored. */
interface Stored {
  hash: string;
  size: number;
  holder: string;
}

function readStored(line: string): Stored {
  const [, hash = '', size, holder = ''] = line.split(' ');
  return { hash, size: Number(size), holder };
}

/** Lets a writer put blobs until it has stored `count`, and kills it `delayMs` later, at any point. */
async function putAndDie(count: number, delayMs: number): Promise<Stored[]> {
  const writer = await startWriter();
  const stored: Stored[] = [];
  writer.tell('flood');
  for (let line = await writer.hear(); line !== undefined; line = await writer.hear()) {
    stored.push(readStored(line));
    if (stored.length === count) setTimeout(() => void writer.kill(), delayMs);
  }
  return stored;
}

test(
  'a server that is killed during many puts keeps acknowledged blobs; all others are whole or absent, and the next sweep removes them',
  { timeout: 120_000 + kills * 15_000 },
  async () => {
    let unfinished = 0;
    // After `kills` rounds, continue only until one kill has come during a put.
    for (let round = 0; round < kills || (unfinished === 0 && round < kills * 10); round++) {
      const said = await putAndDie(1 + round * 3, (round * 7) % 12);
      const before = ask('SELECT hash FROM blobs WHERE hash IS NULL').length;
      unfinished += before;
      const { store, blobs, close } = await openSqliteStorage(dataDir);
      const there = ask('SELECT hash FROM blobs WHERE hash IS NOT NULL').map(({ hash }) =>
        String(hash),
      );
      for (const { hash } of said) expect(there).toContain(hash);
      const sizes = new Map(said.map(({ hash, size }) => [hash, size]));
      for (const hash of there) {
        const { bytes, size } = (await blobs.get(hash))!;
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
        expect(bytes.length).toBe(sizes.get(hash) ?? size);
      }
      await expect.poll(() => ask('SELECT 1 FROM blobs WHERE hash IS NULL')).toEqual([]);
      const held = ask('SELECT DISTINCT hash FROM blobs JOIN blob_holders USING (blob_key)').length;
      expect(await blobs.sweep(Date.now() + 60_000)).toBe(there.length - held);
      for (const { hash, holder } of said) {
        expect((await blobs.get(hash)) !== undefined).toBe(holder !== 'upload');
      }
      for (let which = 0; which < 4; which++) await store.deleteSession(`session-${which}`);
      for (const table of ['blobs', 'blob_parts', 'blob_holders']) {
        expect([table, ask(`SELECT 1 FROM ${table}`)]).toEqual([table, []]);
      }
      await close();
    }
    // At least one put was interrupted; without that, the test would prove nothing.
    expect(unfinished).toBeGreaterThan(0);
  },
);

test('a full disk refuses a put, stores no part of it, and accepts it when there is space', async () => {
  const writer = await startWriter();
  const first = readStored((await writer.ask('put 3000000')) ?? '');
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(writer.pid), `--fsize=${bytes}:`]);
  /** Fills the disk, as `test/faults/disk.ts` does, when a part of the second blob is stored. */
  const fillAmid = async () => {
    writer.tell('put 20000000');
    await expect
      .poll(() => ask('SELECT 1 FROM blob_parts').length, { interval: 1 })
      .toBeGreaterThan(6);
    // Stop the writer while the limit is set, so that the put cannot finish before the disk is full.
    process.kill(writer.pid, 'SIGSTOP');
    limit(0);
    process.kill(writer.pid, 'SIGCONT');
    return writer.hear();
  };
  for (const refused of [await fillAmid(), await writer.ask('put 10'), await writer.ask('sweep')]) {
    expect(refused).toMatch(/^STORE_WRITE_FAILED .*free some space/);
  }
  // The partial blob cannot be deleted now, but it must be invisible.
  const named = () => ask('SELECT hash FROM blobs WHERE hash IS NOT NULL ORDER BY blob_key');
  expect(named()).toEqual([{ hash: first.hash }]);
  limit('unlimited');
  const again = readStored((await writer.ask('put 20000000')) ?? '');
  expect(named().map(({ hash }) => hash)).toEqual([first.hash, again.hash]);
  expect(await writer.ask('sweep')).toBe('swept 2');
  expect(ask('SELECT 1 FROM blobs')).toEqual([]);
  expect(ask('SELECT 1 FROM blob_parts')).toEqual([]);
  await writer.kill();
});
