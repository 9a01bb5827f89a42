/** Notices to users about forks of a conversation: a system message before the turn that the notice is about. */
import type { StoredTurn } from '@liminal/agents';
import { headOf, type OutputItem, type Response } from '@liminal/protocol';
import type { ResponseHead } from '@liminal/storage';
import { importTurns } from '../history/index.ts';

/** Returns the notice for a turn that does not continue from the whole conversation before it. */
export function forkNotice(
  turn: StoredTurn,
  before: readonly StoredTurn[],
  stored: readonly StoredTurn[],
  known: readonly ResponseHead[],
): string | undefined {
  // A second notice is not needed: this turn continues from a turn that already has a notice.
  if (before.some(({ turnId }) => turnId === turn.after)) return undefined;
  if (turn.isLeft === true) return unknownBranchNotice;
  const left = new Set(stored.filter(({ isLeft }) => isLeft).map(({ turnId }) => turnId));
  const from = known.findIndex(({ id }) => id === turn.after);
  return known.slice(from + 1).some(({ id }) => left.has(id)) ? knownBranchNotice : undefined;
}

/**
 * The suffix that marks the id of a run that only records the agent's position; the id's other part is the turn from
 * which the agent continues.
 */
export const positionSuffix = ':place';
/** How many characters of a prompt are quoted. */
const promptMax = 60;

/** The beginning of a prompt, short enough for a sentence. */
export const quoted = (prompt: string): string =>
  prompt.length > promptMax ? `${headOf(prompt, promptMax - 1)}…` : prompt;

export function continuationNotice(prompt: string): string {
  return `This conversation has forked, and the agent now continues from “${quoted(prompt)}”. The agent does not know the other branch: tell it what it needs.`;
}

/**
 * Converts a conversation from an agent's own store to history. Leaves out turns that were taken back in the terminal;
 * where the conversation continues, a notice lists these turns.
 */
export function importConversation(sessionId: string, stored: readonly StoredTurn[]): Response[] {
  const kept = stored.filter(({ isLeft }) => isLeft !== true);
  const branches = Map.groupBy(
    stored.filter(({ isLeft }) => isLeft === true),
    (turn) => forkOf(turn, stored),
  );
  const noticeAfter = (turnId: string | undefined): string | undefined => {
    const left = branches.get(turnId);
    return left && takenBack(left);
  };
  return kept.flatMap((turn, place) => {
    const isLast = place === kept.length - 1;
    return importTurns(sessionId, [turn]).map((run) =>
      withFinalNotice(
        withNotice(run, noticeAfter(kept[place - 1]?.turnId)),
        isLast ? noticeAfter(turn.turnId) : undefined,
      ),
    );
  });
}

/**
 * Returns the turn of the conversation after which a branch begins; undefined if the branch begins at the
 * conversation's start.
 */
function forkOf(turn: StoredTurn, stored: readonly StoredTurn[]): string | undefined {
  const turns = new Map(stored.map((one) => [one.turnId, one]));
  let after = turn.after;
  while (turns.get(after ?? '')?.isLeft === true) after = turns.get(after ?? '')?.after;
  return after;
}

function takenBack(turns: readonly StoredTurn[]): string {
  const prompts = turns.flatMap((turn) => storedPrompt(turn) ?? []);
  const named = prompts.slice(0, mostNamed).map((prompt) => `“${quoted(prompt)}”`);
  const which = named.length === 0 ? '' : `: ${named.join(', ')}`;
  const more = named.length > 0 && turns.length > named.length ? ', …' : '';
  const count = turns.length === 1 ? 'A turn was' : `${turns.length} turns were`;
  return `${count} taken back here in the terminal: not shown, and not known to the agent${which}${more}`;
}

/** The most taken-back turns that a notice lists. */
const mostNamed = 5;

/**
 * Returns the notice at the end of a fork that lacks later turns. The original and the fork share the project folder,
 * so the folder's files include the changes of the later turns.
 */
export function newerFilesNotice(title: string): string {
  return `The fork begins here. The files in the project folder include changes by later turns of “${quoted(title)}”, which the agent does not know: tell it what it needs.`;
}

export const unknownBranchNotice =
  'This conversation went on elsewhere, too, from an earlier point. The agent here does not know what was said there: tell it what it needs.';
const knownBranchNotice =
  'This conversation was continued elsewhere from an earlier point. The agent now knows that continuation, and no longer what was said here after that point: tell it what it needs.';

export function withNotice(response: Response, notice: string | undefined): Response {
  if (notice === undefined) return response;
  const item = noticeItem(noticeId(response.id), notice, response.createdAt);
  return { ...response, outputItems: [item, ...response.outputItems] };
}

/** Returns a fork's last run, with the notice at its end. */
export function withFinalNotice(response: Response, notice: string | undefined): Response {
  if (notice === undefined) return response;
  const item = noticeItem(`${response.id}:files`, notice, response.updatedAt);
  return { ...response, outputItems: [...response.outputItems, item] };
}

/** @param at - In ms since the epoch. */
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
