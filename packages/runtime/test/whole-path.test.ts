import type { EventPayload, StreamEvent, UpsertObject } from '@liminal/protocol';
import {
  emptyResponse,
  foldResponse,
  isTerminal,
  responseToUpserts,
  toResponse,
} from '@liminal/protocol';
import { eventScripts } from '@liminal/protocol/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let worlds: World[] = [];

// Deltas logged one by one, coalesced a little, and coalesced until something else happens.
beforeAll(async () => {
  worlds = await Promise.all([0, 2, 5_000].map(async (cadenceMs) => startWorld({ cadenceMs })));
});
afterAll(async () => {
  await Promise.all(worlds.map(async (world) => world.end()));
});

/** What a reader does just before the event at `at`, counted over all turns. */
interface Step {
  at: number;
  reader: number;
  action: 'reconnect' | 'forget' | 'stall' | 'drain';
}

const steps = fc.array(
  fc.record({
    at: fc.nat({ max: 150 }),
    reader: fc.nat({ max: 2 }),
    action: fc.constantFrom<Step['action'][]>('reconnect', 'forget', 'stall', 'drain'),
  }),
  { maxLength: 12 },
);

test('INV-1 INV-2 INV-3 INV-5 INV-6 INV-7 INV-9 whatever is said, dropped, stalled and batched, every reader ends with what a naive fold of the log gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(eventScripts(), { minLength: 1, maxLength: 3 }),
      steps,
      fc.nat({ max: 2 }),
      async (turns, plan, which) => {
        const world = worlds[which];
        if (!world) throw new Error('No such world.');
        await playThrough(world, turns, plan);
      },
    ),
    { numRuns: process.env['FAULTS'] === 'long' ? 5_000 : 300, endOnFailure: false },
  );
});

async function playThrough(world: World, turns: StreamEvent[][], plan: Step[]): Promise<void> {
  const { runtime, agent, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const readers = [true, true, false].map((deltas) => new Reader(runtime, sessionId, { deltas }));
  const logged: StreamEvent[][] = [];
  let played = 0;
  for (const turn of turns) {
    const { turnId } = await runtime.send(sessionId, 'Go');
    const feed = await runtime.followRun(turnId, {
      after: -1,
      signal: AbortSignal.timeout(20_000),
    });
    for (const payload of renamed(turn.slice(1), turnId)) {
      for (const step of plan) if (step.at === played) act(world, sessionId, readers, step);
      agent.say(sessionId, payload);
      played += 1;
      // Lets appends and readers run between some events, and not between others.
      if (played % 3 === 0) await new Promise(setImmediate);
    }
    logged.push(await collect(feed));
    await settled(world, sessionId);
  }
  for (const reader of readers) reader.drained();
  await checkReaders(world, sessionId, readers, logged);
  for (const reader of readers) reader.close();
  await runtime.kill(sessionId);
}

function act(world: World, sessionId: string, readers: Reader[], { reader, action }: Step): void {
  const old = readers[reader];
  if (!old) return;
  if (action === 'stall') old.ready = false;
  if (action === 'drain') old.drained();
  if (action === 'reconnect' || action === 'forget') {
    old.close();
    const next = new Reader(world.runtime, sessionId, {
      deltas: reader < 2,
      cursor: action === 'reconnect' ? old.cursor : undefined,
    });
    if (action === 'reconnect') for (const [id, item] of old.items) next.items.set(id, item);
    readers[reader] = next;
  }
}

async function collect(
  feed: Awaited<ReturnType<World['runtime']['followRun']>>,
): Promise<StreamEvent[]> {
  if (feed.kind === 'snapshot') throw new Error('The run was settled before it began.');
  return Array.fromAsync(feed.events);
}

/** Resolves when the session's last turn has become history. */
async function settled({ runtime }: World, sessionId: string): Promise<void> {
  const reader = new Reader(runtime, sessionId);
  await reader.until((r) => {
    const state = r.ofType('session:info').at(-1)?.info.session.state;
    return state === 'idle' || state === 'failed';
  });
  reader.close();
}

async function checkReaders(
  { runtime }: World,
  sessionId: string,
  readers: Reader[],
  logged: StreamEvent[][],
): Promise<void> {
  for (const run of logged) {
    expect(run.map((event) => event.seq)).toEqual(run.map((_, index) => index));
    expect(run.filter(isTerminal)).toEqual(run.slice(-1));
  }
  const truth = normal(logged.flatMap(naive));
  expect(normal((await runtime.history(sessionId)).entries)).toEqual(truth);
  const lastId = logged.at(-1)?.at(-1)?.eventId;
  for (const reader of readers) {
    await reader.until((r) => r.cursor === lastId);
    expect(normal([...reader.items.values()])).toEqual(truth);
  }
}

function naive(run: StreamEvent[]): UpsertObject[] {
  const response = toResponse(run.reduce(foldResponse, emptyResponse()));
  return response ? responseToUpserts(response, '') : [];
}

/** By id, and without what tells when rather than what. */
function normal(items: readonly UpsertObject[]): UpsertObject[] {
  return items
    .map((item) => ({ ...item, emittedAt: '', sourceTimestamp: '' }))
    .toSorted((a, b) => a.itemId.localeCompare(b.itemId));
}

/** The script's payloads with ids of the turn's own, as agents give them. */
function renamed(turn: StreamEvent[], turnId: string): EventPayload[] {
  return turn.map(({ payload }) =>
    JSON.parse(
      JSON.stringify(payload, (key, value: unknown) =>
        ['itemId', 'id', 'callId', 'scriptId', 'approvalId'].includes(key)
          ? `${turnId}/${String(value)}`
          : value,
      ),
    ),
  );
}
