import { applyMessage, applyOlderPage, emptyView, type SessionView } from '@liminal/client';
import type { EventPayload, OutputItem, ServerMessage, UpsertObject } from '@liminal/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

/**
 * A step of a turn: a call, script, text or request begins, inside the call or script `parent` (by its number) or at
 * the top level; or a call or script ends.
 */
type Step =
  | { do: 'call' | 'script' | 'text' | 'ask'; parent: number; callId: number }
  | { do: 'end'; which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('call' as const, 'script' as const, 'text' as const, 'ask' as const),
      parent: fc.nat({ max: 12 }),
      // Some agents give several calls the same id.
      callId: fc.nat({ max: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat() }) },
);

const story = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 60 }),
  limits: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
  isOver: fc.boolean(),
});

let world: World;
afterEach(async () => world.end());

/** The part of each item that a user can distinguish, which does not include its times. */
const shown = (items: readonly UpsertObject[]) =>
  items.map((item) => ({ ...item, emittedAt: '', sourceTimestamp: '', status: phaseOf(item) }));
const phaseOf = ({ status }: UpsertObject) => (status === 'create' ? 'update' : status);

/** The session's view after a client has opened it page by page. */
async function opened(sessionId: string, limit: number): Promise<SessionView> {
  const page = await world.runtime.history(sessionId, { limit });
  const message: ServerMessage = {
    type: 'session:history',
    sessionId,
    resumed: 'snapshot',
    ...page,
  };
  return applyMessage(emptyView(sessionId), message, 0);
}

async function withOlder(view: SessionView, limit: number): Promise<SessionView> {
  const { before = '' } = view;
  const page = await world.runtime.history(view.sessionId, { before, limit });
  return applyOlderPage(view, page, before);
}

const idsOf = ({ turns }: SessionView) =>
  turns.flatMap(({ items }) => items.map(({ itemId }) => itemId));
const callIdsIn = (view: SessionView) =>
  new Set(
    view.turns.flatMap(({ items }) =>
      items.flatMap((item) => (item.type === 'tool_call' ? item.callId : [])),
    ),
  );

/**
 * Checks what holds at any time: items are in the live order, and each result, inner item and request is shown with
 * its call.
 */
function checkTogether(view: SessionView, live: SessionView): void {
  const shownIds = idsOf(view);
  expect(shownIds).toEqual(idsOf(live).filter((id) => shownIds.includes(id)));
  const calls = callIdsIn(view);
  const items = view.turns.flatMap((turn) => turn.items);
  const named = items.flatMap((item) => [
    item.parentCallId ?? [],
    item.type === 'approval' ? (item.callId ?? []) : [],
  ]);
  expect(named.flat().filter((callId) => !calls.has(callId))).toEqual([]);
  const unknown = items.filter((item) => item.type === 'tool_call' && item.toolName === 'unknown');
  expect(unknown).toEqual([]);
}

/** Plays the steps in a turn of an agent. */
function play(sessionId: string, steps: readonly Step[]): void {
  const say = (payload: EventPayload) => world.agent.emit(sessionId, payload);
  const open: { id: string; callId?: string }[] = [];
  const calls: string[] = [];
  const done = (finalItem: OutputItem) =>
    say({ type: 'item_done', itemId: finalItem.id, finalItem });
  for (const [at, one] of steps.entries()) {
    if (one.do === 'end') {
      const [ended] = open.splice(one.which % Math.max(1, open.length), 1);
      if (ended?.callId !== undefined) {
        const { id, callId } = ended;
        const output = { callId, output: `of ${id}`, success: true } as const;
        done({ id: `${id}:out`, type: 'function_call_output', origin: 'system', ...output });
      } else if (ended) {
        const result = `"of ${ended.id}"`;
        say({ type: 'script_execution_done', itemId: ended.id, result, success: true });
      }
      continue;
    }
    const parent = calls[one.parent];
    const itemId = `i${at}`;
    const within = parent !== undefined && { parentCallId: parent };
    if (one.do === 'script') {
      say({ type: 'script_execution_start', itemId, code: '1', ...within });
      open.push({ id: itemId });
      calls.push(itemId);
    } else if (one.do === 'text') {
      const content = `Text ${at}`;
      done({ id: itemId, type: 'message', origin: 'agent', content, ...within });
    } else if (one.do === 'ask') {
      const asked = { approvalId: itemId, title: 'May I?', options: [] };
      const outcome = { outcome: { outcome: 'cancelled' } } as const;
      const of = parent !== undefined && { callId: parent };
      done({ id: itemId, type: 'approval', ...asked, ...of, ...outcome });
    } else {
      // An agent that gives several calls the same id has only one of them open at a time.
      const isOpen = open.some(({ callId }) => callId === `c${one.callId}`);
      const callId = isOpen ? `c${at}:own` : `c${one.callId}`;
      const call = { name: 'Task', callId, ...within };
      say({ type: 'item_start', itemId, itemType: 'function_call', ...call });
      done({ id: itemId, type: 'function_call', origin: 'agent', arguments: '{}', ...call });
      open.push({ id: itemId, callId });
      if (!calls.includes(callId)) calls.push(callId);
    }
  }
}

describe.each(['memory', 'sqlite'] as const)('on %s', (driver) => {
  beforeEach(async () => {
    world = await startWorld({ cadenceMs: 0 }, { medium: openMedium(driver) });
  });

  test('INV-4 INV-7 TC-7.2b a session opened page by page shows what a live reader shows: calls with their results and inner items', async () => {
    const property = fc.asyncProperty(story, async ({ steps, limits, isOver }) => {
      const { runtime, agent, projectDir } = world;
      const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
      let live = emptyView(sessionId);
      const reader = new Reader(runtime, sessionId, {});
      await reader.untilType('session:history');
      await runtime.send(sessionId, 'Go');
      play(sessionId, steps);
      const last = { id: 'last', type: 'message', origin: 'agent', content: 'Last.' } as const;
      agent.emit(sessionId, { type: 'item_done', itemId: last.id, finalItem: last });
      await reader.until(({ items }) => items.has(last.id));
      if (isOver) {
        agent.finish(sessionId);
        await reader.untilTurn('turn_complete');
        await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'idle');
      }
      for (const message of reader.messages) live = applyMessage(live, message, 0);
      reader.close();
      let view = await opened(sessionId, limits[0] ?? 1);
      checkTogether(view, live);
      for (let page = 1; view.hasMore; page += 1) {
        view = await withOlder(view, limits[page % limits.length] ?? 1);
        checkTogether(view, live);
      }
      const itemsOf = (turns: SessionView['turns']) => turns.flatMap(({ items }) => items);
      expect(shown(itemsOf(view.turns))).toEqual(shown(itemsOf(live.turns)));
      await runtime.deleteSession(sessionId);
    });
    await fc.assert(property, { numRuns: driver === 'memory' ? 300 : 100, seed: 20_260_101 });
  }, 120_000);
});

test('a subagent with 300 calls and a script with 300 calls have their results when the session is opened again', async () => {
  world = await startWorld();
  const { runtime, agent, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  await runtime.send(sessionId, 'Go');
  const steps: Step[] = [
    { do: 'call', parent: 99, callId: 1 },
    { do: 'script', parent: 99, callId: 0 },
  ];
  for (let n = 0; n < 300; n += 1) {
    // Begin and end an inner call; it is number 2, because the two outer calls are older.
    steps.push({ do: 'call', parent: n % 2, callId: n + 10 }, { do: 'end', which: 2 });
  }
  play(sessionId, [...steps, { do: 'end', which: 0 }, { do: 'end', which: 0 }]);
  agent.finish(sessionId);
  await expect
    .poll(async () => (await runtime.history(sessionId)).turns[0]?.status)
    .toBe('complete');
  const newest = await runtime.history(sessionId, { limit: 50 });
  const outer = newest.entries.filter(({ itemId }) => itemId === 'i0' || itemId === 'i1');
  expect(outer).toMatchObject([
    { toolName: 'Task', toolOutput: 'of i0' },
    { toolName: 'script', toolOutput: '"of i1"' },
  ]);
  expect(newest.earlier?.map(({ itemId }) => itemId)).toEqual(expect.arrayContaining(['i0', 'i1']));
  expect(newest.entries.length).toBeLessThan(60);
});
