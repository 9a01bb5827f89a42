/** Codex' own store: its threads, and the turns of one. */
import { createHash } from 'node:crypto';
import type { EventDraft } from '@liminal/protocol';
import { z } from 'zod';
import { TurnWriter } from '../base/turn-writer.ts';
import { ProviderError, turnNotStored } from '../errors.ts';
import type { StoredFork, StoredSession, StoredTurn } from '../provider.ts';
import { reviewCommand } from './commands.ts';
import { attachedImages, wordsIn } from './prompt.ts';
import type { AppServer } from './app-server.ts';
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
      items: z.array(z.unknown()),
      status: z.string().catch(''),
      startedAt: z.number().nullish().catch(undefined),
      completedAt: z.number().nullish().catch(undefined),
    }),
  ),
  nextCursor: z.string().nullish(),
});
type Turn = z.infer<typeof Turns>['data'][number];

/** How many are asked for at once. */
const pageSize = 100;
/** Threads that are listed at most; older ones can still be opened by their id. */
const mostThreads = 1_000;

/** The threads of people, newest first; of one folder, or all. */
export async function listThreads(
  server: AppServer,
  projectDir?: string,
): Promise<StoredSession[]> {
  const found: StoredSession[] = [];
  let cursor: string | null | undefined;
  do {
    const params = { cursor, limit: pageSize, sortKey: 'updated_at', modelProviders: [] };
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

/** The conversation, oldest turn first. `SESSION_NOT_FOUND`. */
export async function readThread(
  server: AppServer,
  threadId: string,
  cwd: string,
): Promise<StoredTurn[]> {
  const turns = await readTurns(server, threadId);
  return turns.map((turn, index) => {
    const before = turns[index - 1];
    const after = before && turnIdOf(before, threadId);
    return { ...storedTurn(turn, threadId, cwd), ...(after !== undefined && { after }) };
  });
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
  if (last === undefined) throw turnNotStored('Codex');
  // It is left at once: whoever opens it next says how it runs.
  const config = { thread_unload_delay_secs: 0 };
  const params = { threadId, lastTurnId: last.id, cwd, config, excludeTurns: true };
  const { thread } = Forked.parse(await server.request('thread/fork', params));
  await server.leave([{ threadId: thread.id, turnId: undefined }]);
  const copies = turns
    .slice(0, place + 1)
    .map((turn) => [turnIdOf(turn, threadId), turnIdOf(turn, thread.id)] as const);
  return { agentSessionId: thread.id, copies: new Map(copies), left: new Set() };
}

/** The turns that have ended, oldest first. */
async function readTurns(server: AppServer, threadId: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor: string | null | undefined;
  do {
    const params = { threadId, cursor, limit: pageSize, sortDirection: 'asc', itemsView: 'full' };
    const answer = await server.request('thread/turns/list', params).catch((error: unknown) => {
      const message = `Codex does not have the session ${threadId}.`;
      throw new ProviderError('SESSION_NOT_FOUND', message, { cause: error });
    });
    const page = Turns.parse(answer);
    turns.push(...page.data.filter(({ status }) => status !== 'inProgress'));
    // A cursor that comes again leads nowhere.
    cursor = page.nextCursor === cursor ? undefined : page.nextCursor;
  } while (cursor);
  return turns;
}

const itemsOf = ({ items }: Turn) => items.map((value) => ThreadItem.safeParse(value).data);

/**
 * The id of a turn: its message's, if Codex was given one. A fork tells the turns before it under their old ids; there
 * they get ids of their own.
 */
function turnIdOf(turn: Turn, threadId: string): string {
  const asked = itemsOf(turn).find((item) => item?.type === 'userMessage');
  const id = asked?.clientId ?? turn.id;
  return isOlder(turn.id, threadId) ? copyId(id, threadId) : id;
}

const datedId = /^[\da-f]{8}-[\da-f]{4}-7/;

/** Codex' ids begin with the time at which they were made (UUIDv7). */
const isOlder = (turnId: string, threadId: string): boolean =>
  datedId.test(turnId) && datedId.test(threadId) && turnId < threadId;

/** A UUID that is always the same for a turn in a fork. */
function copyId(turnId: string, threadId: string): string {
  const hash = createHash('sha256').update(`${threadId} ${turnId}`).digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`];
  return [...parts, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
}

function storedTurn(turn: Turn, threadId: string, cwd: string): StoredTurn {
  const events: EventDraft[] = [];
  const items = itemsOf(turn);
  const asked = items.find((item) => item?.type === 'userMessage');
  const turnId = turnIdOf(turn, threadId);
  const writer = new TurnWriter(turnId, (draft) => events.push(draft));
  const told = new CodexTurn(writer, cwd, '');
  writer.at(isoOf(turn.startedAt ?? turn.completedAt ?? 0));
  const review = items.find((item) => item?.type === 'enteredReviewMode');
  const words = asked && wordsIn(asked.content);
  const said = review === undefined ? words : reviewCommand(review.review);
  const trigger = said === undefined ? 'agent' : 'user';
  const images = attachedImages(asked?.content ?? []);
  writer.begin({ modelId: '', providerId: 'codex', trigger }, said, images);
  for (const item of turn.items) told.tell(item);
  writer.at(isoOf(turn.completedAt ?? turn.startedAt ?? 0));
  told.end(turn);
  return { turnId, events };
}

const isoOf = (at: number): string => new Date(at * 1_000).toISOString();
