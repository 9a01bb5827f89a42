/** Codex' own store: its threads, and the turns of one. */
import type { EventDraft } from '@liminal/protocol';
import { z } from 'zod';
import { TurnWriter } from '../base/turn-writer.ts';
import { ProviderError } from '../errors.ts';
import type { StoredSession, StoredTurn } from '../provider.ts';
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
  const turns: StoredTurn[] = [];
  let cursor: string | null | undefined;
  do {
    const params = { threadId, cursor, limit: pageSize, sortDirection: 'asc', itemsView: 'full' };
    const answer = await server.request('thread/turns/list', params).catch((error: unknown) => {
      const message = `Codex does not have the session ${threadId}.`;
      throw new ProviderError('SESSION_NOT_FOUND', message, { cause: error });
    });
    const page = Turns.parse(answer);
    for (const turn of page.data) {
      // One that runs is told when it has ended.
      if (turn.status === 'inProgress') continue;
      const after = turns.at(-1)?.turnId;
      turns.push({ ...storedTurn(turn, cwd), ...(after !== undefined && { after }) });
    }
    // A cursor that comes again leads nowhere.
    cursor = page.nextCursor === cursor ? undefined : page.nextCursor;
  } while (cursor);
  return turns;
}

function storedTurn(turn: Turn, cwd: string): StoredTurn {
  const events: EventDraft[] = [];
  const items = turn.items.map((value) => ThreadItem.safeParse(value).data);
  const asked = items.find((item) => item?.type === 'userMessage');
  const turnId = asked?.clientId ?? turn.id;
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
