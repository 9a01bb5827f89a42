import type { SessionView } from '@liminal/client';
import {
  type HistoryPage,
  isTerminal,
  Response,
  steeredItemId,
  type StreamEvent,
  type UpsertObject,
} from '@liminal/protocol';
import { openPostgres } from '@liminal/storage/postgres';
import { expect } from 'vitest';
import {
  checkRun,
  shownOf,
  storedOf,
  timeless,
} from '../../packages/runtime/test/whole-path-truth.ts';
import type { Sent } from './chaos-user.ts';
import type { ChaosSubscriber } from './chaos-subscriber.ts';
import type { ChaosWorld } from './world.ts';

/** How long the servers may take to become idle on a busy machine, in ms. */
const patience = { timeout: 60_000, interval: 100 };

/** Waits until no turn runs, and then compares all states with the commands that Redis had written to disk. */
export async function judge(world: ChaosWorld): Promise<void> {
  const { logReader: witness } = world;
  await expect
    .poll(async () => witness.left(), patience)
    .toEqual({
      announced: 0,
      pending: 0,
      lasting: [`${world.settings.prefix}:runs`],
    });
  const deleted = deletedIn(world);
  await expect
    .poll(
      async () => (await witness.read()).filter(({ sessionId }) => !deleted.has(sessionId)),
      patience,
    )
    .toEqual([]);
  for (const run of keptRuns(world)) checkRun(run);
  await judgeDeleted(world);
  judgeMessages(world);
  judgeRefusals(world);
  await judgeStore(world);
  await judgeServers(world);
  await judgeForks(world);
  await judgeReaders(world);
}

/** Returns the sessions that users deleted. */
const deletedIn = ({ users: people }: ChaosWorld): Set<string> =>
  new Set(people.flatMap((person) => person.deleted));

/** Returns the runs of the sessions that users did not delete. */
function keptRuns(world: ChaosWorld): StreamEvent[][] {
  const deleted = deletedIn(world);
  const runs = [...world.logReader.runs.values()];
  return runs.filter(([first]) => first !== undefined && !deleted.has(first.sessionId));
}

/**
 * Checks that no data of deleted sessions remains, neither in a server nor in the store, even if an agent was working
 * in them.
 */
async function judgeDeleted(world: ChaosWorld): Promise<void> {
  const { requests, settings, logReader: witness } = world;
  const deleted = deletedIn(world);
  const { store } = await openPostgres(settings.databaseUrl, { schema: settings.schema });
  try {
    for (const sessionId of deleted) {
      const runs = witness.runsOf(sessionId).map(([first]) => first?.runId ?? '');
      const left = await Promise.all(runs.map(async (runId) => store.getResponse(runId)));
      expect(left.filter((run) => run !== undefined)).toEqual([]);
      for (const server of requests) {
        await expect(server.status(sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      }
    }
  } finally {
    await store.close();
  }
  for (const server of requests) {
    const projects = await server.listProjects();
    const shown = projects.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId));
    expect(shown.filter((sessionId) => deleted.has(sessionId))).toEqual([]);
  }
}

/** Checks that each message has exactly one turn. A message whose sender got no answer may have no turn. */
function judgeMessages({ users: people, logReader: witness }: ChaosWorld): void {
  const turns = new Map<string, string[]>();
  for (const run of witness.runs.values()) {
    const message = messageOf(run);
    turns.set(message, [...(turns.get(message) ?? []), run[0]?.turnId ?? '']);
  }
  const amid = Map.groupBy([...witness.runs.values()].flatMap(steeredMessages), ({ id }) => id);
  const said = people.flatMap(({ sent }) => sent);
  const wrong = said.filter((one) => {
    const own = turns.get(one.message) ?? [];
    if (one.messageId === undefined) return !isRight(one, own);
    return !isRightAmid(one, own, amid.get(one.messageId) ?? []);
  });
  const logged = ({ turnId = '' }: Sent) => witness.runs.get(turnId)?.map(({ type }) => type);
  expect(
    wrong.map((one) => ({
      ...one,
      turns: turns.get(one.message),
      amid: amid.get(one.messageId ?? ''),
      logged: logged(one),
    })),
  ).toEqual([]);
}

function isRight({ outcome, turnId, removed }: Sent, turns: string[]): boolean {
  if (outcome !== 'acknowledged') return turns.length <= 1;
  if (removed && turns.length === 0) return true;
  return turns.length === 1 && turns[0] === turnId;
}

/**
 * Checks that a steered message is in exactly one turn. If the agent handles the message later, it has a turn of its
 * own. If the server died before the message was logged, the message also has a turn of its own.
 */
function isRightAmid(
  { outcome, turnId = '', messageId = '' }: Sent,
  own: readonly string[],
  amid: readonly SteeredMessage[],
): boolean {
  const [first] = amid;
  if (amid.length > 1 || own.length > 1) return false;
  if (own.some((turn) => turn !== messageId)) return false;
  if (first && own.length !== (first.isLeft ? 1 : 0)) return false;
  return outcome !== 'acknowledged' || [first?.turnId, ...own].includes(turnId);
}

/** A steered message. */
interface SteeredMessage {
  id: string;
  turnId: string;
  /** The message was withdrawn from the running turn, to get a turn of its own. */
  isLeft: boolean;
}

function steeredMessages(run: readonly StreamEvent[]): SteeredMessage[] {
  const ended = new Map(
    run.flatMap(({ payload }) => {
      return payload.type === 'item_cancelled' ? [[payload.itemId, payload.reason] as const] : [];
    }),
  );
  return run.flatMap(({ turnId, payload }) => {
    const before = steeredItemId(turnId, '');
    if (payload.type !== 'item_start' || !payload.itemId.startsWith(before)) return [];
    const { itemId } = payload;
    const isLeft = ended.get(itemId) === 'own_turn';
    return [{ id: itemId.slice(before.length), turnId, isLeft }];
  });
}

function messageOf(run: readonly StreamEvent[]): string {
  const own = `${run[0]?.turnId}/user`;
  for (const { payload } of run) {
    if (payload.type !== 'item_done' || payload.finalItem.type !== 'message') continue;
    if (payload.itemId === own) return payload.finalItem.content;
  }
  // The turn was lost before its message was logged.
  return '';
}

/** Checks that every rejected request got the reason, in words for users. */
function judgeRefusals({ users: people }: ChaosWorld): void {
  expect(people.flatMap(({ refusals }) => [...refusals.keys()])).not.toContain('INTERNAL');
}

/** Checks that the stored runs equal the log, which is folded from the beginning. */
async function judgeStore(world: ChaosWorld): Promise<void> {
  const { store } = await openPostgres(world.settings.databaseUrl, {
    schema: world.settings.schema,
  });
  try {
    for (const run of keptRuns(world)) {
      expect(await store.getResponse(run[0]?.runId ?? '')).toEqual(storedOf(run));
    }
  } finally {
    await store.close();
  }
}

/** Checks that every server shows every session and every run as the log contains them. */
async function judgeServers(world: ChaosWorld): Promise<void> {
  for (const { sessionId } of world.users) {
    const runs = world.logReader.runsOf(sessionId);
    const truth = shownOf(runs);
    for (const [index, requests] of world.requests.entries()) {
      const { entries, turns } = await wholeHistory((page) => requests.history(sessionId, page));
      expect(turns).toEqual(runs.map(([first]) => first?.turnId));
      expect(timeless(entries)).toEqual(truth);
      expect(['idle', 'failed']).toContain((await requests.status(sessionId)).state);
      for (const run of runs) {
        expect(await fetchRun(world, index, run[0]?.runId ?? '')).toEqual(storedOf(run));
      }
    }
  }
}

async function wholeHistory(read: (page: { before?: string }) => Promise<HistoryPage>) {
  const turns: string[] = [];
  const entries: UpsertObject[] = [];
  for (let before: string | undefined; ;) {
    const page = await read(before === undefined ? {} : { before });
    const ids = page.turns.map(({ turnId }) => turnId).filter((id) => !turns.includes(id));
    turns.unshift(...ids);
    entries.unshift(...page.entries);
    before = page.before;
    if (!page.hasMore) return { turns, entries };
  }
}

async function fetchRun({ servers, settings }: ChaosWorld, index: number, runId: string) {
  const headers = { authorization: `Bearer ${settings.token}` };
  const answer = await fetch(`${servers[index]?.origin}/api/run/${runId}`, { headers });
  return Response.parse(await answer.json());
}

/**
 * Checks that every server shows every fork, with the conversation of the original session up to the turn of the fork.
 */
async function judgeForks({
  users: people,
  requests,
  logReader: witness,
}: ChaosWorld): Promise<void> {
  for (const server of requests) {
    const projects = await server.listProjects();
    const forks = projects.flatMap(({ sessions }) => sessions.filter((one) => one.forkedFrom));
    const shown = forks.map(({ sessionId }) => sessionId);
    expect(shown).toEqual(expect.arrayContaining(people.flatMap((person) => person.forks)));
    for (const { sessionId, forkedFrom } of forks) {
      const runs = witness.runsOf(forkedFrom?.sessionId ?? '');
      const last = runs.findLastIndex(([first]) => first?.turnId === forkedFrom?.turnId);
      const { entries, turns } = await wholeHistory((page) => server.history(sessionId, page));
      expect(turns).toHaveLength(last + 1);
      const truth = shownOf(runs.slice(0, last + 1));
      // If later turns have changed files, the fork begins with a notice.
      const copied = entries.filter(({ itemId }) => !itemId.endsWith(':files'));
      expect(timeless(copied).map(unplaced)).toEqual(truth.map(unplaced));
    }
  }
}

/** Returns the item without the ids of its session and its turn. */
const unplaced = (item: UpsertObject): UpsertObject => ({
  ...item,
  sessionId: '',
  turnId: '',
});

/**
 * Checks that all readers show the same, on any server: readers that were connected all the time, readers that
 * returned, and new readers.
 */
async function judgeReaders(world: ChaosWorld): Promise<void> {
  for (const [at] of world.servers.entries()) {
    for (const { sessionId } of world.users) {
      world.subscribers.push(await world.subscribe(sessionId, at));
    }
  }
  const lastIds = new Map(
    world.users.map(({ sessionId }) => {
      return [sessionId, world.logReader.runsOf(sessionId).at(-1)?.at(-1)?.eventId];
    }),
  );
  const behind = () =>
    world.subscribers.flatMap(({ sessionId, view }, index) => {
      const isThere = view.cursor === lastIds.get(sessionId) && view.phase === 'ready';
      return isThere ? [] : [`${index}: ${view.cursor} ${view.phase} ${view.problem?.code}`];
    });
  await expect.poll(behind, patience).toEqual([]);
  for (const watcher of world.subscribers) judgeReader(world, watcher);
}

function judgeReader(
  { logReader: witness }: ChaosWorld,
  { sessionId, view, seen, faults }: ChaosSubscriber,
): void {
  expect(faults).toEqual([]);
  const runs = witness.runsOf(sessionId);
  const items = view.turns.flatMap((turn) => turn.items);
  expect(timeless(items)).toEqual(shownOf(runs));
  expect(view.turns.map(({ turnId, status }) => [turnId, status])).toEqual(
    runs.map((run) => [run[0]?.turnId, storedOf(run)?.status]),
  );
  const withdrawn = new Set(runs.flat().flatMap(({ payload }) => withdrawnBy(payload)));
  for (const before of seen) judgeSeen(before, items, withdrawn);
}

function withdrawnBy(payload: StreamEvent['payload']): string[] {
  return payload.type === 'item_cancelled' ? [payload.itemId] : [];
}

/**
 * Checks that every item that was shown is also shown at the end, unchanged or longer (invariant 6), unless the item
 * was withdrawn.
 */
function judgeSeen(before: SessionView, items: UpsertObject[], withdrawn: Set<string>): void {
  const last = new Map(items.map((item) => [item.itemId, item]));
  for (const item of before.turns.flatMap((turn) => turn.items)) {
    const now = last.get(item.itemId);
    if (now === undefined && withdrawn.has(item.itemId)) continue;
    expect(now, `${item.itemId} was shown but is missing`).toBeDefined();
    const seen = textOf(item);
    const begins = now && textOf(now).slice(0, seen.length);
    expect(begins, `${item.itemId} was shown differently`).toBe(seen);
  }
}

function textOf(item: UpsertObject): string {
  if (item.type === 'message' || item.type === 'thinking') return item.content;
  return item.type === 'tool_call' ? (item.toolOutput ?? '') : '';
}

/** Returns how many elements of each kind there are. */
export function countBy<T>(all: Iterable<T>, kindOf: (one: T) => string): Record<string, number> {
  const groups = Map.groupBy(all, kindOf);
  return Object.fromEntries([...groups].map(([kind, ones]) => [kind, ones.length]));
}

export function endsOf(runs: Iterable<readonly StreamEvent[]>): Record<string, number> {
  return countBy(runs, (run) => {
    const payload = run.find(isTerminal)?.payload;
    if (payload?.type === 'response_error') return payload.error.code;
    return payload?.type === 'response_done' ? payload.status : 'open';
  });
}
