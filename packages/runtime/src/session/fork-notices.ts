/** Notices for people where a conversation has forked: a system message before the turn that it is about. */
import type { StoredTurn } from '@liminal/agents';
import { headOf, type OutputItem, type Response } from '@liminal/protocol';
import type { ResponseHead } from '@liminal/storage';

/** The notice for a turn that does not go on from all that was said before it. */
export function forkNotice(
  turn: StoredTurn,
  before: readonly StoredTurn[],
  stored: readonly StoredTurn[],
  known: readonly ResponseHead[],
): string | undefined {
  // It goes on from a turn that has just had its notice.
  if (before.some(({ turnId }) => turnId === turn.after)) return undefined;
  if (turn.isLeft === true) return notKnown;
  const left = new Set(stored.filter(({ isLeft }) => isLeft).map(({ turnId }) => turnId));
  const from = known.findIndex(({ id }) => id === turn.after);
  return known.slice(from + 1).some(({ id }) => left.has(id)) ? nowKnown : undefined;
}

/** Suffix to the id of the turn that the agent goes on from. */
export const placeMark = ':place';
/** How many characters of a prompt are quoted. */
const promptMax = 60;

/** A prompt, short enough to be named in a sentence. */
export const quoted = (prompt: string): string =>
  prompt.length > promptMax ? `${headOf(prompt, promptMax - 1)}…` : prompt;

export function goesOnFrom(prompt: string): string {
  return `This conversation has forked, and the agent goes on from “${quoted(prompt)}” now. It does not know what was said in the other branch: tell it what it needs.`;
}

/** For a fork that ends before later turns: there is one project folder for both. */
export function filesAreNewer(title: string): string {
  return `The fork begins here. The files in the project folder are as later turns of “${quoted(title)}” have left them, and the agent does not know what those did: tell it what it needs.`;
}

export const notKnown =
  'This conversation went on elsewhere, too, from an earlier point. The agent here does not know what was said there: tell it what it needs.';
const nowKnown =
  'This conversation went on elsewhere, too, from an earlier point. From now on the agent knows what was said there, and no longer what was said here after that point: tell it what it needs.';

export function withNotice(response: Response, notice: string | undefined): Response {
  if (notice === undefined) return response;
  const item = noticeItem(noticeId(response.id), notice, response.createdAt);
  return { ...response, outputItems: [item, ...response.outputItems] };
}

/** The last run of a fork, which ends with a notice. */
export function endingWith(response: Response, notice: string | undefined): Response {
  if (notice === undefined) return response;
  const item = noticeItem(`${response.id}:files`, notice, response.updatedAt);
  return { ...response, outputItems: [...response.outputItems, item] };
}

/** @param at - ms since the epoch. */
function noticeItem(id: string, content: string, at: number): OutputItem {
  const time = new Date(at).toISOString();
  return { id, type: 'message', origin: 'system', content, startedAt: time, endedAt: time };
}

export const noticeId = (runId: string): string => `${runId}:fork`;

export function storedPrompt({ events }: StoredTurn): string | undefined {
  for (const { payload } of events) {
    if (payload.type !== 'item_done' || payload.finalItem.type !== 'message') continue;
    if (payload.finalItem.origin === 'user') return payload.finalItem.content;
  }
  return undefined;
}
