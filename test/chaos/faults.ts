import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { Member, Ways } from './member.ts';
import type { ChaosWorld } from './world.ts';

/** The kinds of faults. Each kind has a relative frequency, and the range of its duration in ms. */
const kinds = {
  'reader dropped': { weight: 26, ms: [0, 0] },
  'reader begun anew': { weight: 9, ms: [0, 0] },
  'reader stalled': { weight: 12, ms: [50, 2_000] },
  'requests cut off': { weight: 12, ms: [0, 0] },
  'server killed': { weight: 7, ms: [0, 1_500] },
  'server stopped': { weight: 3, ms: [0, 500] },
  'server frozen': { weight: 3, ms: [300, 3_500] },
  'server cut off': { weight: 6, ms: [50, 3_000] },
  'projector killed': { weight: 5, ms: [0, 1_000] },
  'Redis killed': { weight: 5, ms: [0, 1_500] },
  'Redis frozen': { weight: 3, ms: [100, 4_000] },
  'database killed': { weight: 3, ms: [0, 800] },
} as const;

export type FaultKind = keyof typeof kinds;

export const allKinds = Object.keys(kinds);

export interface Fault {
  kind: FaultKind;
  /** The time between the previous fault and this one, in ms. */
  gapMs: number;
  /**
   * `who` is the index of the fault's victim. `where` is the index of the server or of the services that the fault
   * concerns. Each index is taken modulo the number of candidates.
   */
  who: number;
  where: number;
  ms: number;
}

const fault: fc.Arbitrary<Fault> = fc.oneof(
  ...Object.entries(kinds).map(
    ([
      kind,
      {
        weight,
        ms: [min, max],
      },
    ]) => ({
      weight,
      arbitrary: fc.record({
        kind: fc.constant(kind as FaultKind),
        gapMs: fc.nat(500),
        who: fc.nat(10_000),
        where: fc.nat(2),
        ms: fc.integer({ min, max }),
      }),
    }),
  ),
);

export function faultsOf(seed: number, count: number): Fault[] {
  return fc.sample(fault, { seed, numRuns: count, unbiased: true });
}

/** The services that a server is cut off from. */
const servicesAt: (keyof Ways)[][] = [['redis'], ['database'], ['redis', 'database']];

/** Begins a fault. Resolves when the fault's victim works again. */
export async function play(world: ChaosWorld, { kind, who, where, ms }: Fault): Promise<void> {
  const { redis, postgres } = world;
  const watcher = pick(world.subscribers, who);
  const server = wellOne(world, world.servers, who);
  const projector = wellOne(world, world.projectors, who);
  switch (kind) {
    case 'reader dropped':
      return watcher.drop(where);
    case 'reader begun anew':
      return watcher.forget();
    case 'reader stalled':
      return watcher.stall(ms);
    case 'requests cut off':
      return pick(world.wires, who).cut();
    case 'server killed':
      return world.alone(server.name, async () => {
        await server.kill();
        await delay(ms);
        await server.start();
      });
    case 'server stopped':
      return world.alone(server.name, async () => {
        await server.stop();
        await delay(ms);
        await server.start();
      });
    case 'server frozen':
      return world.alone(server.name, async () => server.freeze(ms));
    case 'server cut off':
      return world.alone(`${server.name}’s ways`, async () => {
        await server.cutOff(servicesAt[where] ?? [], ms);
      });
    case 'projector killed':
      return world.alone(projector.name, async () => {
        await projector.kill();
        await delay(ms);
        await projector.start();
      });
    case 'Redis killed':
      return world.alone('redis', async () => {
        await redis.kill();
        await delay(ms);
        await redis.restart();
      });
    case 'Redis frozen':
      return world.alone('redis', async () => {
        redis.pause();
        await delay(ms);
        redis.resume();
      });
    case 'database killed':
      return world.alone('database', async () => {
        await postgres.kill();
        await delay(ms);
        await postgres.restart();
      });
  }
}

/** Returns a member that no fault affects at the moment. If every member is affected, returns any member. */
function wellOne(world: ChaosWorld, members: readonly Member[], who: number): Member {
  const well = members.filter(({ name }) => !world.isBusy(name));
  return pick(well.length > 0 ? well : members, who);
}

function pick<T>(all: readonly T[], index: number): T {
  const one = all[index % all.length];
  if (one === undefined) throw new Error('There is no victim for a fault.');
  return one;
}
