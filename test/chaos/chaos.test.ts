import { inspect } from 'node:util';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allKinds, faultsOf } from './faults.ts';
import { length, seed } from './length.ts';
import { countBy, endsOf, judge } from './verdict.ts';
import { ChaosWorld } from './world.ts';

/** Each round has its own seed. A single round can be repeated with `FAULTS_SEED`. */
const rounds = Array.from({ length: length.rounds }, (_, index) => ({ seed: seed + index }));

test.each(rounds)(
  `INV-1 INV-2 INV-3 INV-4 INV-6 INV-7 INV-8 ${length.sessions} sessions on three servers through ${length.faults} faults: every reader, every server and the store end with the state of the log (seed $seed)`,
  { timeout: 600_000 },
  async ({ seed: own }) => {
    const faults = faultsOf(own, length.faults);
    const played = countBy(faults, ({ kind }) => kind);
    expect(Object.keys(played).toSorted()).toEqual(allKinds.toSorted());
    const world = await ChaosWorld.start();
    try {
      await world.populate(length.sessions, own);
      await world.suffer(faults);
      expect(world.crashed).toEqual([]);
      const finished = await Promise.allSettled(world.users.map((person) => person.finish()));
      const unfinished = finished.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (unfinished.length > 0) throw new AggregateError(unfinished, 'Not all turns have ended.');
      world.note('no turn is running');
      await judge(world);
      world.note('judged');
      printSummary(world, played);
      await world.end();
      expect(world.crashed).toEqual([]);
    } catch (error) {
      // Print the error now, because Vitest reports the error only after all rounds.
      world.note(inspect(error, { depth: 8 }));
      const kept = await keepLogs(world);
      console.error(
        `To repeat this round: FAULTS_SEED=${own} npm run chaos. Its logs are in ${kept}.`,
      );
      await world.end().catch(console.error);
      throw error;
    }
  },
);

/** Writes the faults that were played, and the log of each process, into a folder. Returns the folder. */
async function keepLogs(world: ChaosWorld): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'liminal-chaos-log-'));
  await writeFile(join(folder, 'faults.log'), world.log.join('\n'));
  for (const { name, log } of [...world.servers, ...world.projectors]) {
    await writeFile(join(folder, `${name}.log`), log);
  }
  return folder;
}

function printSummary(
  { logReader: witness, users: people, log }: ChaosWorld,
  faults: Record<string, number>,
): void {
  const sent = countBy(
    people.flatMap((person) => person.sent),
    ({ outcome, messageId }) =>
      messageId === undefined ? outcome : `${outcome} as a steered message`,
  );
  const deleted = people.flatMap((person) => person.deleted).length;
  const forks = people.flatMap((person) => person.forks).length;
  const ends = endsOf(witness.runs.values());
  console.info(JSON.stringify({ faults, sent, deleted, forks, ends, took: log.slice(-3) }));
}
