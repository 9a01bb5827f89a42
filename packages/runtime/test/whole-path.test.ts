import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { eventScripts } from '@liminal/protocol/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { World } from './harness.ts';
import { startWorld } from './harness.ts';
import type { Driver } from './medium.ts';
import { openMedium } from './medium.ts';
import type { ReaderState } from './reader.ts';
import { Reader } from './reader.ts';
import { checkRun, shownOf, storedOf, timeless } from './whole-path-truth.ts';

const isLong = process.env['FAULTS'] === 'long';
const { FAULTS_SEED, FAULTS_PATH } = process.env;

/**
 * The cadences, in ms: deltas are logged one by one, or a few are joined, or all are joined until another event
 * comes.
 */
const cadences = [0, 2, 5_000];

const readerActions = ['reconnect', 'return', 'forget', 'remember', 'stall', 'drain'] as const;
const goingsDown = ['crash', 'close'] as const;

/** An incident just before the event at `at`, counted over all turns. */
interface Step {
  at: number;
  reader: number;
  action: (typeof readerActions)[number] | (typeof goingsDown)[number] | 'flood';
}

const step = fc.record({
  at: fc.nat({ max: 90 }),
  reader: fc.nat({ max: 2 }),
  action: fc.oneof(
    { arbitrary: fc.constantFrom<Step['action'][]>(...readerActions), weight: 6 },
    { arbitrary: fc.constantFrom<Step['action'][]>(...goingsDown), weight: 1 },
    { arbitrary: fc.constant<Step['action']>('flood'), weight: 1 },
  ),
});

const turn = fc.record({
  script: eventScripts(),
  /** After the turn's last event and before the turn is in history. */
  after: fc.constantFrom(undefined, undefined, undefined, ...goingsDown),
});

const story = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  steps: fc.array(step, { maxLength: 16 }),
  cadenceMs: fc.constantFrom(...cadences),
});

type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

let play: Play | undefined;
afterEach(async () => play?.end());

describe.each([
  { driver: 'memory' as const, runs: isLong ? 5_000 : 75 },
  { driver: 'sqlite' as const, runs: isLong ? 2_500 : 30 },
])('on $driver', ({ driver, runs }) => {
  test(
    'INV-1 INV-2 INV-3 INV-4 INV-5 INV-6 INV-7 INV-9 after any drops, stalls, batches, crashes and restarts, every reader ends with the result of a naive fold of the log',
    { timeout: isLong ? 3_600_000 : 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(story, async (told) => {
          play = await Play.start(driver, told);
          await play.through();
          await play.end();
        }),
        {
          numRuns: runs,
          ...replay(),
          // A run that hangs is reported as a counterexample, with its seed.
          timeout: 20_000,
          ...(!isLong && { interruptAfterTimeLimit: 90_000 }),
        },
      );
    },
  );
});

/** Every short run plays the same stories; `FAULTS_SEED` and `FAULTS_PATH` repeat a failed story. */
function replay(): { seed?: number; path?: string } {
  const seed = FAULTS_SEED ?? (isLong ? undefined : 20_260_101);
  return {
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(FAULTS_PATH !== undefined && { path: FAULTS_PATH }),
  };
}

/** The events that a run's follower has received so far. */
interface Followed {
  runId: string;
  events: StreamEvent[];
  ended: Promise<void>;
  stop: () => void;
}

/** Plays a story: a world that may be restarted, and three readers, two of which take deltas. */
class Play {
  readonly #story: Story;
  readonly #sessionId: string;
  readonly #steps: Step[];
  readonly #places = new Map<number, ReaderState>();
  readonly #followed: Followed[] = [];
  #world: World;
  #readers: Reader[];
  #said = 0;

  private constructor(world: World, sessionId: string, told: Story) {
    this.#world = world;
    this.#sessionId = sessionId;
    this.#story = told;
    this.#steps = told.steps.toSorted((a, b) => a.at - b.at);
    this.#readers = [0, 1, 2].map((index) => this.#read(index));
  }

  static async start(driver: Driver, told: Story): Promise<Play> {
    const world = await startWorld({ cadenceMs: told.cadenceMs }, { medium: openMedium(driver) });
    const { runtime, projectDir } = world;
    const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
    return new Play(world, sessionId, told);
  }

  async through(): Promise<void> {
    for (const turn of this.#story.turns) await this.#turn(turn);
    await this.#check();
  }

  async end(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await this.#world.end();
  }

  /** Plays a turn to its end, or until the server stops. */
  async #turn({ script, after }: Story['turns'][number]): Promise<void> {
    const { turnId } = await this.#world.runtime.send(this.#sessionId, 'Go');
    const followed = await this.#follow(turnId);
    for (const payload of renamed(script.slice(1), turnId)) {
      if (await this.#takeSteps()) return;
      this.#world.agent.emit(this.#sessionId, payload);
      this.#said += 1;
      // Lets appends and readers run between some events, and not between others.
      if (this.#said % 3 === 0) await new Promise(setImmediate);
    }
    if (after) return this.#restart(after);
    await followed.ended;
    await this.#settled();
  }

  /** Plays the steps that are due; returns whether the server was stopped and restarted, which ends the turn. */
  async #takeSteps(): Promise<boolean> {
    for (;;) {
      const [next] = this.#steps;
      if (!next || next.at > this.#said) return false;
      this.#steps.shift();
      const { reader, action } = next;
      if (action === 'crash' || action === 'close') {
        await this.#restart(action);
        return true;
      }
      if (action === 'flood') this.#flood();
      else this.#act(reader, action);
    }
  }

  /** Readers return with their state. */
  async #restart(how: 'crash' | 'close'): Promise<void> {
    if (how === 'crash') for (const reader of this.#readers) reader.close();
    for (const followed of this.#followed) followed.stop();
    this.#world = await this.#world.restart(how);
    const { acknowledged } = this.#world.medium;
    const kept = new Set([...acknowledged.values()].flat().map((event) => event.eventId));
    // Shown events survive: a cursor is the id of the last event that its reader has applied.
    for (const { cursor } of this.#readers) expect([...kept, undefined, '']).toContain(cursor);
    this.#readers = this.#readers.map((reader, index) => this.#read(index, reader.place));
  }

  /** Sends more at once than may wait for a reader whose transport is full. */
  #flood(): void {
    const itemId = `flood-${this.#steps.length}`;
    const pieces = Array.from({ length: 10 }, (_, piece) => `${piece} `.repeat(5_000));
    const finalItem = { type: 'message' as const, id: itemId, content: pieces.join('') };
    this.#world.agent.text(this.#sessionId, itemId, ...pieces);
    this.#world.agent.emit(this.#sessionId, {
      type: 'item_done',
      itemId,
      finalItem: { ...finalItem, origin: 'agent' },
    });
  }

  #act(index: number, action: (typeof readerActions)[number]): void {
    const reader = this.#readers[index]!;
    switch (action) {
      case 'stall':
        reader.ready = false;
        return;
      case 'drain':
        return reader.drained();
      case 'remember':
        this.#places.set(index, reader.place);
        return;
      case 'reconnect':
        return this.#replace(index, reader.place);
      case 'return':
        return this.#replace(index, this.#places.get(index));
      case 'forget':
        return this.#replace(index, undefined);
    }
  }

  #replace(index: number, place: ReaderState | undefined): void {
    this.#readers[index]?.close();
    this.#readers[index] = this.#read(index, place);
  }

  #read(index: number, place?: ReaderState): Reader {
    return new Reader(this.#world.runtime, this.#sessionId, { deltas: index < 2, ...place });
  }

  async #follow(runId: string): Promise<Followed> {
    const stop = new AbortController();
    const feed = await this.#world.runtime.followRun(runId, { after: -1, signal: stop.signal });
    if (feed.kind === 'snapshot')
      throw new Error('The run must not be settled before it has begun.');
    const events: StreamEvent[] = [];
    const collect = async (): Promise<void> => {
      for await (const event of feed.events) events.push(event);
    };
    const followed = { runId, events, ended: collect(), stop: () => stop.abort() };
    this.#followed.push(followed);
    return followed;
  }

  /** Resolves when the session's last turn is in history. */
  async #settled(): Promise<void> {
    const reader = this.#read(2);
    await reader.until((r) => {
      const state = r.ofType('session:info').at(-1)?.info.session.state;
      return state === 'idle' || state === 'failed';
    });
    reader.close();
  }

  async #check(): Promise<void> {
    const { runtime, storage, medium } = this.#world;
    const { acknowledged } = medium;
    for (const [runId, run] of acknowledged) {
      checkRun(run);
      expect(await storage.store.getResponse(runId)).toEqual(storedOf(run));
    }
    for (const { runId, events } of this.#followed) {
      expect(acknowledged.get(runId)?.slice(0, events.length)).toEqual(events);
    }
    const runs = [...acknowledged.values()];
    const truth = shownOf(runs);
    expect(timeless((await runtime.history(this.#sessionId)).entries)).toEqual(truth);
    for (const reader of this.#readers) reader.drained();
    // A late reader, without a cursor or with an old one, also reaches the same state.
    for (const [index, place] of [...this.#places, [2, undefined] as const])
      this.#readers.push(this.#read(index, place));
    const lastId = runs.at(-1)?.at(-1)?.eventId;
    for (const reader of this.#readers) {
      await reader.until((r) => r.cursor === lastId);
      expect(timeless(reader.items.values())).toEqual(truth);
      expect(reader.fault).toBeUndefined();
    }
  }
}

const idFields = new Set(['itemId', 'id', 'callId', 'scriptId', 'approvalId']);

/** The script's payloads with ids of this turn, as an agent sends them. */
function renamed(turn: StreamEvent[], turnId: string): EventPayload[] {
  return turn.map(({ payload }) =>
    JSON.parse(
      JSON.stringify(payload, (key, value: unknown) =>
        typeof value === 'string' && idFields.has(key) ? `${turnId}/${value}` : value,
      ),
    ),
  );
}
