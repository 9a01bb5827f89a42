/**
 * Writes one run after another until the process is killed. Prints which events the log acknowledged, and which ones
 * a follower received.
 */
import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../src/sqlite/index.ts';
import { batchesOf, responseOf, runIdAt } from './crash-script.ts';

/** Prints a line in one synchronous write: completely, and before the next step, or not at all. */
function print(what: 'acknowledged' | 'seen' | 'settled', runId: string, seq: number): void {
  writeSync(1, `${what} ${runId} ${seq}\n`);
}

const reportEvery = 16;
const [dataDir = '', firstRun = '0'] = process.argv.slice(2);
const { log, store } = await openSqliteStorage(dataDir);

async function watch(runId: string): Promise<void> {
  for await (const { seq } of log.follow(runId)) {
    // Print only some events, because the writer would otherwise mostly be killed while printing.
    if (seq % reportEvery === 0) print('seen', runId, seq);
  }
}

for (let index = Number(firstRun); ; index += 1) {
  const runId = runIdAt(index);
  const watching = watch(runId);
  for (const batch of batchesOf(runId)) {
    await log.append(runId, batch);
    print('acknowledged', runId, batch.at(-1)?.seq ?? -1);
  }
  await watching;
  // Leave every third run unsettled, so that the check finds runs.
  if (index % 3 === 2) continue;
  await store.saveResponse(responseOf(runId));
  await log.settle(runId);
  print('settled', runId, -1);
}
