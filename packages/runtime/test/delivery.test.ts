import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  const made = await world.runtime.createSession({
    cliType: 'scripted',
    projectDir: world.projectDir,
  });
  sessionId = made.sessionId;
});
afterEach(async () => world.end());

async function ready(options = {}): Promise<Reader> {
  return new Reader(world.runtime, sessionId, options).untilType('session:info');
}

function delta(itemId: string, deltaContent: string): void {
  world.agent.emit(sessionId, { type: 'item_delta', itemId, deltaContent });
}

test('a reader that takes deltas gets the first character at once, then appends, then the complete text', async () => {
  const reader = await ready({ deltas: true });
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'H');
  await reader.until((r) => r.items.has('a'));
  delta('a', 'i');
  await reader.untilType('session:append');
  delta('a', ' you');
  await reader.untilType('session:append', 2);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  const own = reader.messages.flatMap((m) => {
    if (m.type === 'session:append') return `+${m.at} ${m.text}`;
    if (m.type !== 'session:upsert' || m.payload.itemId !== 'a' || m.payload.type !== 'message')
      return [];
    return `${m.payload.status} ${m.payload.content}`;
  });
  expect(own).toEqual(['create H', '+1 i', '+2  you', 'complete Hi you']);
});

test('each upsert carries the date at which it was sent', async () => {
  const readers = [await ready({ deltas: true }), await ready()];
  const before = new Date().toISOString();
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'Hi');
  world.agent.finish(sessionId);
  for (const reader of readers) await reader.untilTurn('turn_complete');
  const after = new Date().toISOString();
  const dates = readers.flatMap((reader) =>
    reader.ofType('session:upsert').map(({ payload }) => payload.emittedAt),
  );
  expect(dates.length).toBeGreaterThan(0);
  expect(dates.filter((date) => date < before || date > after)).toEqual([]);
});

test('INV-7 a reader that returns during a turn with its cursor gets that turn completely, but no earlier turns', async () => {
  const first = await ready({ deltas: true });
  await world.runtime.send(sessionId, 'one');
  world.agent.text(sessionId, 'a', 'Alpha');
  world.agent.finish(sessionId);
  await first.until((r) => {
    const [, ...since] = r.ofType('session:info');
    return since.at(-1)?.info.session.state === 'idle';
  });
  const { turnId } = await world.runtime.send(sessionId, 'two');
  world.agent.text(sessionId, 'b', 'Be');
  await first.until((r) => r.items.has('b'));
  first.close();
  delta('b', 'ta');
  const second = await ready({ deltas: true, cursor: first.cursor });
  const [history] = second.ofType('session:history');
  expect(history).toMatchObject({ resumed: 'tail', turns: [{ turnId }] });
  expect(history?.entries.map((entry) => entry.itemId)).toEqual([`${turnId}-user`, 'b']);
  delta('b', '!');
  world.agent.finish(sessionId);
  await second.untilTurn('turn_complete');
  expect(second.items.get('b')).toMatchObject({ content: 'Beta!' });
});

test('INV-7 an event that is logged at the moment a reader subscribes is not missed', async () => {
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', '-');
  for (let ticks = 0; ticks < 40; ticks++) {
    const reader = new Reader(world.runtime, sessionId, { deltas: true });
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    delta('a', 'y');
    await reader.untilType('session:info');
    delta('a', 'z');
    const whole = `-${'yz'.repeat(ticks + 1)}`;
    await reader.until((r) => r.ofType('session:append').at(-1)?.text === 'z');
    expect(reader.items.get('a')).toMatchObject({ content: whole });
    reader.close();
  }
});

test('INV-7 an unknown cursor gets a snapshot', async () => {
  await world.runtime.send(sessionId, 'one');
  world.agent.finish(sessionId);
  for (const cursor of ['rubbish', 'unknown-run:3', '']) {
    const reader = await ready({ cursor });
    expect(reader.ofType('session:history')[0]?.resumed).toBe('snapshot');
    expect(reader.items.size).toBe(1);
  }
});

test('a reader with the newest cursor gets an empty tail', async () => {
  const first = await ready();
  await world.runtime.send(sessionId, 'one');
  world.agent.finish(sessionId);
  await first.untilTurn('turn_complete');
  const second = await ready({ cursor: first.cursor });
  expect(second.ofType('session:history')[0]).toMatchObject({
    resumed: 'tail',
    entries: [],
    turns: [],
    cursor: first.cursor,
  });
});

test('INV-9 a reader whose transport is full gets nothing until it drains, and then the newest state', async () => {
  const fast = await ready({ deltas: true });
  const slow = await ready({ deltas: true });
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'x');
  await slow.until((r) => r.items.has('a'));
  slow.ready = false;
  delta('a', 'y');
  await fast.untilType('session:append');
  const before = slow.messages.length;
  for (let i = 0; i < 500; i++) delta('a', 'z');
  world.agent.finish(sessionId);
  await fast.untilTurn('turn_complete');
  expect(slow.messages.length).toBe(before);
  slow.drained();
  await slow.until((r) => r.items.get('a')?.status === 'complete');
  expect(slow.state()).toEqual(fast.state());
  expect(slow.messages.length).toBeLessThan(before + 5);
});

test('a withdrawn item is removed from every reader', async () => {
  const live = await ready({ deltas: true });
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'half a sentence');
  await live.until((r) => r.items.has('a'));
  world.agent.emit(sessionId, { type: 'item_cancelled', itemId: 'a', reason: 'retried' });
  await live.untilType('session:discard');
  expect(live.items.has('a')).toBe(false);
  const late = await ready({ deltas: true });
  expect(late.items.has('a')).toBe(false);
});

test('a reader that came during a turn gets the discard of an item that other readers were not shown yet', async () => {
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'too short to be shown yet');
  const plain = await ready();
  expect(plain.items.has('a')).toBe(true);
  world.agent.emit(sessionId, { type: 'item_cancelled', itemId: 'a', reason: 'retried' });
  await plain.untilType('session:discard');
  expect(plain.items.has('a')).toBe(false);
});

test('history starts with the newest page, continues with `before` to its beginning, and never splits a tool call', async () => {
  const reader = await ready();
  await world.runtime.send(sessionId, 'Hello');
  for (let i = 0; i < 300; i++) world.agent.call(sessionId, `tool-${i}`);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'idle');
  const seen: string[] = [];
  let before: string | undefined;
  do {
    const page = await world.runtime.history(sessionId, { before, limit: 75 });
    expect(page.entries.every((e) => e.status === 'complete')).toBe(true);
    expect(page.entries.some((e) => e.type === 'tool_call' && e.toolName !== 'Read')).toBe(false);
    const earlier = new Set(page.earlier?.map(({ itemId }) => itemId));
    const placed = page.entries.filter(({ itemId }) => !earlier.has(itemId));
    seen.unshift(...placed.map((entry) => entry.itemId));
    before = page.before;
    expect(page.hasMore).toBe(before !== undefined);
  } while (before !== undefined);
  expect(seen.slice(1)).toEqual(Array.from({ length: 300 }, (_, i) => `tool-${i}`));
});

test('INV-6 items that a reader has seen survive a crash: the turn is marked and the session continues', async () => {
  const reader = await ready({ deltas: true });
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'I was saying');
  await reader.until((r) => r.items.has('a'));
  const after = await world.restart();
  const page = await after.runtime.history(sessionId);
  expect(page.entries.at(-1)).toMatchObject({
    itemId: 'a',
    content: 'I was saying',
    status: 'error',
  });
  expect(page.turns.at(-1)).toMatchObject({ status: 'error', error: { code: 'OWNER_LOST' } });
  const [project] = await after.runtime.listProjects();
  expect(project?.sessions[0]?.state).toBe('failed');
  const back = await new Reader(after.runtime, sessionId, { cursor: reader.cursor }).untilType(
    'session:info',
  );
  expect(back.ofType('session:history')[0]?.resumed).toBe('tail');
  await after.runtime.send(sessionId, 'Go on');
  expect(after.agent.loads).toEqual([sessionId]);
});

test('a caller with `ownOnly` makes no agent read its store', async () => {
  let reads = 0;
  world.agent.listStoredSessions = async () => {
    reads += 1;
    return [];
  };
  const told = Promise.withResolvers<void>();
  const stop = world.runtime.subscribeToSessionList(() => told.resolve(), { ownOnly: true });
  await told.promise;
  stop();
  expect(reads).toBe(0);
  await world.runtime.listProjects();
  expect(reads).toBe(1);
});

test('the list of sessions is sent once, then each change', async () => {
  const states: string[] = [];
  const told = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const stop = world.runtime.subscribeToSessionList(({ sessions }) => {
    for (const session of sessions) if (session.sessionId === sessionId) states.push(session.state);
    told.resolve();
    if (states.includes('running') && states.at(-1) === 'idle') finished.resolve();
  });
  await told.promise;
  await world.runtime.send(sessionId, 'Hello');
  world.agent.finish(sessionId);
  await finished.promise;
  stop();
  expect(states[0]).toBe('idle');
  expect(states).toContain('running');
});

test('the changes of a send are sent in few messages, because each contains all settings', async () => {
  const reader = await ready();
  const before = reader.ofType('session:info').length;
  await world.runtime.send(sessionId, 'Hello');
  const told = () => reader.ofType('session:info').slice(before);
  await expect
    .poll(() => told().at(-1)?.info)
    .toMatchObject({ session: { state: 'running' }, queue: [] });
  // The changes: the message is being sent, its turn runs, the queue is empty.
  expect(told().length).toBeLessThanOrEqual(3);
});

test('a run is returned as events while the log has them, and as a snapshot afterwards', async () => {
  const reader = await ready();
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  const signal = new AbortController().signal;
  const feed = await world.runtime.followRun(turnId, { after: -1, signal });
  world.agent.finish(sessionId);
  const types: string[] = [];
  if (feed.kind === 'events') for await (const event of feed.events) types.push(event.type);
  expect(types).toEqual(['response_start', 'item_start', 'item_done', 'response_done']);
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'idle');
  const late = await world.runtime.followRun(turnId, { after: -1, signal });
  expect(late).toMatchObject({ kind: 'snapshot', response: { id: turnId, status: 'complete' } });
  await expect(world.runtime.getRun('nope')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});
