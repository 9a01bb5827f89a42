import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { eventScripts } from '@liminal/protocol/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventLog, LoggedRun } from '../event-log.ts';
import { collect, delta, done, eventsOf, start } from './runs.ts';
import { amountOf, type Extent, type Setup, type SubjectUnderTest } from './subject.ts';

/** A run of the model. */
interface ModelRun {
  events: StreamEvent[];
  ended: boolean;
  settled: boolean;
}

interface Following {
  runId: string;
  after: number;
  seen: Promise<StreamEvent[]>;
}

/** A log and its model. Every step is applied to both, and then the log is compared with the model. */
class World {
  readonly #runs = new Map<string, ModelRun>();
  readonly #under: SubjectUnderTest<EventLog>;
  #log: EventLog;
  #followings: Following[] = [];
  /**
   * Runs for which the append of the last event was refused before the first event was stored. A Redis Cluster may list
   * these runs from then on.
   */
  readonly #early = new Set<string>();

  constructor(under: SubjectUnderTest<EventLog>) {
    this.#under = under;
    this.#log = under.subject;
  }

  async append(runId: string, texts: string[], ends: boolean, skip: number): Promise<void> {
    const run = this.#runs.get(runId) ?? { events: [], ended: false, settled: false };
    const payloads: EventPayload[] = [
      ...(run.events.length === 0 ? [start] : []),
      ...texts.map((text) => delta(text)),
      ...(ends ? [done] : []),
    ];
    const events = eventsOf(runId, payloads, run.events.length + skip);
    const appended = this.#log.append(runId, events);
    const code = errorOf(run, events);
    if (code && ends && run.events.length === 0) this.#early.add(runId);
    if (code) return expect(appended).rejects.toMatchObject({ code });
    await appended;
    if (events.length === 0) return;
    run.events.push(...events);
    run.ended = ends;
    this.#runs.set(runId, run);
  }

  async read(runId: string, after: number, limit: number): Promise<void> {
    const expected = this.#visible(runId).slice(after + 1, after + 1 + limit);
    expect(await this.#log.read(runId, { after, limit })).toStrictEqual(expected);
  }

  follow(runId: string, after: number): void {
    if (this.#runs.get(runId)?.settled) return;
    this.#followings.push({ runId, after, seen: collect(this.#log.follow(runId, { after })) });
  }

  async settle(runId: string): Promise<void> {
    await this.#log.settle(runId);
    const run = this.#runs.get(runId);
    if (run) run.settled = true;
  }

  /**
   * Restarts the log; this ends the followers. Each follower then follows again from its last event, like a reader with
   * a cursor.
   */
  async reopen(): Promise<void> {
    if (!this.#under.reopen) return;
    this.#log = await this.#under.reopen();
    const followings = this.#followings;
    this.#followings = [];
    for (const { runId, after, seen } of followings) {
      const got = await seen;
      expect(got).toStrictEqual(this.#all(runId).slice(after + 1, after + 1 + got.length));
      this.follow(runId, after + got.length);
    }
  }

  async finish(): Promise<void> {
    const unsettled = [...this.#runs].filter(([, run]) => !run.settled);
    const expected = unsettled.map(([runId, { events, ended }]) => {
      return { runId, lastSeq: events.length - 1, ended };
    });
    const listed = (await this.#log.unsettled()).map(summaryOf);
    expect(listed.toSorted(byId)).toStrictEqual(expected.toSorted(byId));
    const isInOrder = ({ runId }: Summary) => !this.#early.has(runId);
    expect(listed.filter(isInOrder)).toStrictEqual(expected.filter(isInOrder));
    for (const runId of new Set([...this.#runs.keys(), ...this.#followings.map((f) => f.runId)])) {
      await this.append(runId, [], true, 0);
    }
    for (const { runId, after, seen } of this.#followings) {
      expect(await seen).toStrictEqual(this.#all(runId).slice(after + 1));
    }
  }

  #visible(runId: string): StreamEvent[] {
    return this.#runs.get(runId)?.settled ? [] : this.#all(runId);
  }

  #all(runId: string): StreamEvent[] {
    return this.#runs.get(runId)?.events ?? [];
  }
}

function errorOf(run: ModelRun, [first]: StreamEvent[]): string | undefined {
  if (!first) return undefined;
  if (run.ended || run.settled) return 'RUN_ENDED';
  return first.seq === run.events.length ? undefined : 'SEQ_CONFLICT';
}

type Summary = Pick<LoggedRun, 'runId' | 'lastSeq' | 'ended'>;

function summaryOf({ runId, lastSeq, ended }: LoggedRun): Summary {
  return { runId, lastSeq, ended };
}

const byId = (a: Summary, b: Summary): number => a.runId.localeCompare(b.runId);

const runIds = fc.constantFrom('run-1', 'run-2', 'run:3');
const texts = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 4 });
const mostly = <T>(usual: T, other: T) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constant(other) },
  );
const after = fc.integer({ min: -1, max: 12 });

const step: fc.Arbitrary<(world: World) => Promise<void> | void> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(runIds, texts, mostly(false, true), mostly(0, 1))
      .map((args) => (world: World) => world.append(...args)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(runIds, after, fc.nat({ max: 8 }))
      .map((args) => (world: World) => world.read(...args)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(runIds, after).map((args) => (world: World) => world.follow(...args)),
  },
  { weight: 1, arbitrary: runIds.map((runId) => (world: World) => world.settle(runId)) },
  { weight: 1, arbitrary: fc.constant((world: World) => world.reopen()) },
);

/**
 * Random interleavings over several runs, compared with a model that is too simple to be wrong. Also tests random whole
 * runs.
 */
export function eventLogProperties(setup: Setup<EventLog>, extent: Extent): void {
  test('FR-001-09, INV-1, INV-2, INV-6: agrees with a naive model under any interleaving', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const under = await setup();
      try {
        const world = new World(under);
        for (const take of steps) await take(world);
        await world.finish();
      } finally {
        await under.teardown();
      }
    });
    await fc.assert(property, { numRuns: amountOf(extent, { whole: 60, part: 20 }) });
  });

  test('returns any run unchanged, however its events were batched', async () => {
    const batch = fc.integer({ min: 1, max: 9 });
    const property = fc.asyncProperty(eventScripts(), batch, async (run, size) => {
      const { subject: log, teardown, reopen } = await setup();
      try {
        const followed = collect(log.follow('run-1'));
        for (let at = 0; at < run.length; at += size) {
          await log.append('run-1', run.slice(at, at + size));
        }
        expect(await followed).toEqual(run);
        expect(await ((await reopen?.()) ?? log).read('run-1')).toEqual(run);
      } finally {
        await teardown();
      }
    });
    await fc.assert(property, { numRuns: amountOf(extent, { whole: 40, part: 12 }) });
  });
}
