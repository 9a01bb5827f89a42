/** Codex' own store: the threads, and the turns of a thread. */
import { createHash } from 'node:crypto';
import { type EventDraft, thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';
import { TurnWriter } from '../../base/turn-writer.ts';
import type { StoredFork, StoredSession, StoredTurn } from '../../contract/provider.ts';
import { reviewCommand } from './commands.ts';
import { beginsWithPlan } from './plan-question.ts';
import { trustConfig } from './project-settings.ts';
import { attachedImages, inputText } from './prompt.ts';
import type { AppServer } from './app-server.ts';
import { Tasks } from './translate/tasks.ts';
import { ownCommand } from './translate/tools.ts';
import { CodexTurn } from './translate/turn.ts';
import { ThreadItem } from './translate/wire.ts';

const seconds = z.number().catch(0);

const Threads = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      cwd: z.string().catch(''),
      preview: z.string().catch(''),
      name: z.string().nullish().catch(undefined),
      createdAt: seconds,
      updatedAt: seconds,
    }),
  ),
  nextCursor: z.string().nullish(),
});

const Forked = z.looseObject({ thread: z.looseObject({ id: z.string() }) });

const Turns = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      /** If the turn belongs to a task: the id of the turn in the session's thread that started the task. */
      rootTurnId: z.string().nullish().catch(undefined),
      items: z.array(z.unknown()),
      status: z.string().catch(''),
      startedAt: z.number().nullish().catch(undefined),
      completedAt: z.number().nullish().catch(undefined),
    }),
  ),
  nextCursor: z.string().nullish(),
});
type ThreadTurn = z.infer<typeof Turns>['data'][number];

/** A turn of a subagent, in the subagent's own thread. */
interface TaskTurn {
  threadId: string;
  turn: ThreadTurn;
}

/** Entries per page. */
const pageSize = 100;
/** The most threads that are listed; older threads can still be opened by their id. */
const mostThreads = 1_000;
/** For how many subagents of a thread the subagent's own thread is read at most. */
const mostTasks = 200;

/** Sources in which people talk to Codex: terminal, editor, another program, an older ACP program. Not `codex exec`. */
const sourceKinds = ['cli', 'vscode', 'appServer', 'unknown'];

/** Lists the threads that people began, newest first: of one folder, or of all folders. */
export async function listThreads(
  server: AppServer,
  projectDir?: string,
): Promise<StoredSession[]> {
  const found: StoredSession[] = [];
  let cursor: string | null | undefined;
  do {
    const sort = { limit: pageSize, sortKey: 'updated_at' };
    const params = { cursor, ...sort, sourceKinds, modelProviders: [] };
    const page = Threads.parse(
      await server.request('thread/list', { ...params, ...(projectDir && { cwd: projectDir }) }),
    );
    for (const { id, cwd, name, preview, createdAt, updatedAt } of page.data) {
      const times = { createdAt: isoOf(createdAt), updatedAt: isoOf(updatedAt) };
      found.push({ sessionId: id, projectDir: cwd, title: name || preview, ...times });
    }
    cursor = page.nextCursor;
  } while (cursor && found.length < mostThreads);
  return found;
}

/** Returns the conversation, oldest turn first, with the work of its subagents. `SESSION_NOT_FOUND`. */
export async function readThread(
  server: AppServer,
  threadId: string,
  cwd: string,
): Promise<StoredTurn[]> {
  const turns = await readTurns(server, threadId);
  const served = await readTasks(server, threadId, turns);
  const thread = { threadId, cwd, tasks: new Tasks() };
  return turns.map((turn, index) => {
    const before = turns[index - 1];
    const after = before && turnIdOf(before, threadId);
    const stored = storedTurn(turn, served.get(turn.id) ?? [], thread);
    return { ...stored, ...(after !== undefined && { after }) };
  });
}

/** Returns whether these are the turns of a fresh thread that was begun to implement a plan. */
function isAfterPlan([first]: readonly ThreadTurn[]): boolean {
  const asked = first && itemsOf(first).find((item) => item?.type === 'userMessage');
  return asked?.type === 'userMessage' && beginsWithPlan(inputText(asked.content));
}

/** Copies a thread up to the end of a turn. `SESSION_NOT_FOUND`, `TURN_NOT_STORED`. */
export async function forkThread(
  server: AppServer,
  threadId: string,
  cwd: string,
  turnId: string,
): Promise<StoredFork> {
  const turns = await readTurns(server, threadId);
  const place = turns.findIndex((turn) => turnIdOf(turn, threadId) === turnId);
  const last = turns[place];
  if (last === undefined) {
    const { clearedForPlan, notStored } = errors.TURN_NOT_STORED;
    throw isAfterPlan(turns) ? clearedForPlan() : notStored('Codex');
  }
  // This config makes Codex close the fork at once; the fork gets its own config when the fork is opened again.
  const config = { thread_unload_delay_secs: 0, ...(await trustConfig(cwd, 'untrusted')) };
  const params = { threadId, lastTurnId: last.id, cwd, config, excludeTurns: true };
  const { thread } = Forked.parse(await server.request('thread/fork', params));
  await server.leave([{ threadId: thread.id, turnId: undefined }]);
  const copies = turns
    .slice(0, place + 1)
    .map((turn) => [turnIdOf(turn, threadId), turnIdOf(turn, thread.id)] as const);
  return { agentSessionId: thread.id, copies: new Map(copies), left: new Set() };
}

/**
 * Rewinds an open thread to before the first of the given turns that the thread has. Does nothing if the thread has
 * none of the turns. Throws ProviderError `CANNOT_REWIND`.
 */
export async function revertThread(
  server: AppServer,
  threadId: string,
  turnIds: readonly string[],
): Promise<void> {
  const gone = new Set(turnIds);
  const turns = await readTurns(server, threadId);
  const first = turns.find((turn) => gone.has(turnIdOf(turn, threadId)));
  if (first === undefined) return;
  // The conversation's earlier turns, which made the plan, are in another thread, so this thread cannot be rewound to
  // them.
  if (first === turns[0] && isAfterPlan(turns)) throw errors.CANNOT_REWIND.afterPlan();
  const asked = { threadId, beforeTurnId: first.id };
  await server.request('thread/revert', asked).catch((error: unknown) => {
    throw errors.CANNOT_REWIND.reported('Codex', thrownMessage(error), { cause: error });
  });
}

/** Returns the ended turns, oldest first. */
async function readTurns(server: AppServer, threadId: string): Promise<ThreadTurn[]> {
  const turns: ThreadTurn[] = [];
  let cursor: string | null | undefined;
  do {
    const params = { threadId, cursor, limit: pageSize, sortDirection: 'asc', itemsView: 'full' };
    const answer = await server.request('thread/turns/list', params).catch((error: unknown) => {
      throw errors.SESSION_NOT_FOUND.unknown('Codex', threadId, { cause: error });
    });
    const page = Turns.parse(answer);
    turns.push(...page.data.filter(({ status }) => status !== 'inProgress'));
    // A repeated cursor would read the same page again.
    cursor = page.nextCursor === cursor ? undefined : page.nextCursor;
  } while (cursor);
  return turns;
}

/** Returns the turns of all subagents below a thread, by the turn that started the subagent. */
async function readTasks(
  server: AppServer,
  threadId: string,
  turns: readonly ThreadTurn[],
): Promise<Map<string, TaskTurn[]>> {
  const served = new Map(turns.map(({ id }) => [id, [] as TaskTurn[]]));
  const read = new Set([threadId]);
  const named = turns.flatMap((turn) => agentsIn(turn).map((agent) => ({ agent, root: turn.id })));
  // The loop itself adds to `named`, because the turns of subagents name more subagents.
  for (const { agent, root } of named) {
    if (read.has(agent) || read.size > mostTasks) continue;
    read.add(agent);
    // The subagent's thread may have been deleted.
    for (const turn of await readTurns(server, agent).catch(() => [])) {
      const serves = served.has(turn.rootTurnId ?? '') ? String(turn.rootTurnId) : root;
      served.get(serves)?.push({ threadId: agent, turn });
      named.push(...agentsIn(turn).map((other) => ({ agent: other, root: serves })));
    }
  }
  return served;
}

const agentsIn = ({ items }: ThreadTurn): string[] => items.flatMap(agentsOf);

/** Returns the thread ids of the subagents that an item mentions. */
function agentsOf(value: unknown): string[] {
  const item = ThreadItem.safeParse(value).data;
  return item?.type === 'collabAgentToolCall' ? item.receiverThreadIds : [];
}

const itemsOf = ({ items }: ThreadTurn) => items.map((value) => ThreadItem.safeParse(value).data);

/**
 * Returns Liminal's id for a turn: the id with which its message was sent, or else Codex' own id. A forked thread
 * reports the turns before the fork under their old ids, so these turns get new ids.
 */
function turnIdOf(turn: ThreadTurn, threadId: string): string {
  const asked = itemsOf(turn).find((item) => item?.type === 'userMessage');
  const id = asked?.clientId ?? turn.id;
  return isOlder(turn.id, threadId) ? copyId(id, threadId) : id;
}

const datedId = /^[\da-f]{8}-[\da-f]{4}-7/;

/** Returns whether a turn is older than its thread: Codex' ids begin with their creation time (UUIDv7). */
const isOlder = (turnId: string, threadId: string): boolean =>
  datedId.test(turnId) && datedId.test(threadId) && turnId < threadId;

/** Returns the UUID of a copied turn in a fork. The same turn always gets the same UUID. */
function copyId(turnId: string, threadId: string): string {
  const hash = createHash('sha256').update(`${threadId} ${turnId}`).digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`];
  return [...parts, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
}

function storedTurn(
  turn: ThreadTurn,
  taskTurns: readonly TaskTurn[],
  { threadId, cwd, tasks }: { threadId: string; cwd: string; tasks: Tasks },
): StoredTurn {
  const events: EventDraft[] = [];
  const items = itemsOf(turn);
  const asked = items.find((item) => item?.type === 'userMessage');
  const turnId = turnIdOf(turn, threadId);
  const writer = new TurnWriter(turnId, (draft) => events.push(draft));
  const translated = new CodexTurn(writer, cwd, '', tasks);
  writer.at(isoOf(turn.startedAt ?? turn.completedAt ?? 0));
  const review = items.find((item) => item?.type === 'enteredReviewMode');
  const [first] = items;
  const isOwn = first?.type === 'commandExecution' && first.source === 'userShell';
  const words = asked
    ? inputText(asked.content)
    : isOwn
      ? `!${ownCommand(first.command)}`
      : undefined;
  const message = review === undefined ? words : reviewCommand(review.review);
  const trigger = message === undefined ? 'agent' : 'user';
  const images = attachedImages(asked?.content ?? []);
  writer.begin({ modelId: '', providerId: 'codex', trigger }, message, images);
  let left = taskTurns;
  for (const item of turn.items) {
    translated.addStored(item);
    const named = agentsOf(item);
    for (const one of left.filter((task) => named.includes(task.threadId)))
      addTask(translated, one);
    left = left.filter((task) => !named.includes(task.threadId));
  }
  for (const one of left) addTask(translated, one);
  writer.at(isoOf(turn.completedAt ?? turn.startedAt ?? 0));
  translated.end(turn);
  return { turnId, events };
}

function addTask(translated: CodexTurn, { threadId, turn }: TaskTurn): void {
  for (const item of turn.items) {
    translated.readTask(threadId, 'item/started', { item });
    translated.readTask(threadId, 'item/completed', { item });
  }
  translated.readTask(threadId, 'turn/completed', { turn });
}

const isoOf = (at: number): string => new Date(at * 1_000).toISOString();
