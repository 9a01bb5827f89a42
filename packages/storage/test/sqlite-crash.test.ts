import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { OpenedStorage } from '../src/index.ts';
import { openSqliteStorage } from '../src/sqlite/index.ts';
import { batchesOf, indexOf, responseOf } from './crash-script.ts';

/** `npm run faults` runs the long version. */
const kills = atLength ? 200 : 4;
/** More runs than any writer reaches. */
const runsApart = 1_000_000;
const writer = fileURLToPath(new URL('crash-writer.ts', import.meta.url));

/**
 * A writer's output before it died: for each run, the highest `seq` that it reported as written or seen, and whether
 * the run was settled.
 */
interface Promised {
  lastSeq: Map<string, number>;
  settled: Set<string>;
}

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'liminal-crash-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

interface Death {
  /** After how many lines of output the writer is about to be killed. */
  lines: number;
  /** How long after that line the writer is killed, in ms. */
  delayMs: number;
}

/** Starts a writer and kills it. */
async function writeAndDie(firstRun: number, death: Death, promised: Promised): Promise<void> {
  const child = spawn(process.execPath, [writer, dataDir, String(firstRun)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, runId = '', seq] = line.split(' ');
    if (what === 'settled') promised.settled.add(runId);
    const last = promised.lastSeq.get(runId) ?? -1;
    promised.lastSeq.set(runId, Math.max(last, Number(seq)));
    said += 1;
    // The writer works on until the signal arrives; its output until then counts as well.
    if (said === death.lines) setTimeout(() => child.kill('SIGKILL'), death.delayMs);
  }
  const [, signal] = (await exited) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

/**
 * Checks that the log has all promised events of these runs, and that all events in the log are the writer's, up to
 * the end of a batch.
 */
async function check(
  { log, store }: OpenedStorage,
  promised: Promised,
  firstRun = 0,
): Promise<void> {
  const isMeant = (runId: string): boolean => indexOf(runId) >= firstRun;
  const kept = (await log.unsettled()).filter(({ runId }) => isMeant(runId));
  for (const run of kept) {
    const batches = batchesOf(run.runId);
    expect(run.lastSeq).toBeGreaterThanOrEqual(promised.lastSeq.get(run.runId) ?? -1);
    expect(batches.map((batch) => batch.at(-1)?.seq)).toContain(run.lastSeq);
    expect(await log.read(run.runId)).toStrictEqual(batches.flat().slice(0, run.lastSeq + 1));
    expect(run.ended).toBe(run.lastSeq === batches.flat().length - 1);
    expect(promised.settled).not.toContain(run.runId);
  }
  const keptIds = new Set(kept.map(({ runId }) => runId));
  // A run that is missing in the log was settled, even if the writer could not print that; its Response must be in
  // the store.
  const gone = [...promised.lastSeq.keys()].filter((id) => isMeant(id) && !keptIds.has(id));
  for (const runId of gone) {
    expect(await store.getResponse(runId)).toStrictEqual(responseOf(runId));
  }
}

/** Writes the rest of the dead writer's runs, and returns the number of runs. */
async function finishRuns({ log }: OpenedStorage): Promise<number> {
  const open = (await log.unsettled()).filter(({ ended }) => !ended);
  for (const { runId, lastSeq } of open) {
    const run = batchesOf(runId).flat();
    await log.append(runId, run.slice(lastSeq + 1));
    expect(await log.read(runId)).toStrictEqual(run);
  }
  return open.length;
}

describe('a server that is killed', () => {
  test(
    'INV-6, INV-1: keeps all events that it acknowledged or showed, in whole batches and without a gap, and works again',
    { timeout: 120_000 + kills * 15_000 },
    async () => {
      const promised: Promised = { lastSeq: new Map(), settled: new Set() };
      const deaths = fc.sample(
        fc.record({
          lines: fc.integer({ min: 1, max: 300 }),
          delayMs: fc.integer({ min: 0, max: 10 }),
        }),
        { numRuns: kills * 10, seed: 20260101 },
      );
      let nextRun = 0;
      let finished = 0;
      for (const [index, death] of deaths.entries()) {
        // After `kills` deaths, continue only until one writer has died in the middle of a run, and one after it has
        // settled a run.
        if (index >= kills && finished > 0 && promised.settled.size > 0) break;
        await writeAndDie(nextRun, death, promised);
        // The dead writer's lock does not prevent this.
        const storage = await openSqliteStorage(dataDir);
        // Checks the last two writers each time, and all writers at the end.
        await check(storage, promised, nextRun - runsApart);
        finished += await finishRuns(storage);
        // A wide gap, because the last run may have begun without any output.
        nextRun += runsApart;
        await storage.close();
      }
      const storage = await openSqliteStorage(dataDir);
      await check(storage, promised);
      await storage.close();
      expect(promised.lastSeq.size).toBeGreaterThan(kills);
      expect(promised.settled.size).toBeGreaterThan(0);
      expect(finished).toBeGreaterThan(0);
    },
  );

  test('prevents other processes from using its data folder while it lives', async () => {
    const storage = await openSqliteStorage(dataDir);
    const child = spawn(process.execPath, [writer, dataDir], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = (await Array.fromAsync(child.stderr.setEncoding('utf8'))).join('');
    expect(said).toContain('DATA_DIR_IN_USE');
    expect(said).toContain(dataDir);
    await storage.close();
  });
});
