import { randomUUID } from 'node:crypto';
import type { StoredTurn } from '@liminal/agents';
import type { Response } from '@liminal/protocol';
import type { ResponseHead } from '@liminal/storage';

/** The texts by which a turn with an unknown id is recognised. */
interface TurnSignature {
  prompt: string;
  answer: string;
}

/** A turn in history. */
type KnownTurn = Pick<Response, 'id' | 'outputItems' | 'status' | 'trigger'>;

/**
 * Returns stored turns; each turn that matches a turn in history by prompt and answer, in order, gets the id of that
 * turn. For agents whose own ids are only numbers. `known` are the newest of `all` runs in history. An unmatched turn
 * before a matched turn is left out, because it may not be new. Turns in history that the agent no longer has, because
 * the conversation was forked, come last and have `isLeft`.
 */
export function withKnownIds(
  stored: readonly StoredTurn[],
  known: readonly KnownTurn[],
  all: readonly Pick<ResponseHead, 'id'>[],
): StoredTurn[] {
  const knownBefore = all.length - known.length;
  const skipped = Math.min(knownBefore, Math.max(0, stored.length - known.length));
  const pairs = align(stored.slice(skipped).map(storedTurnSignature), known.map(runSignature));
  const lastPair = pairs.at(-1);
  if (lastPair === undefined && known.length > 0) return [];
  const lastStored = skipped + (lastPair?.stored ?? -1);
  const runs = new Map(pairs.map((pair) => [skipped + pair.stored, known[pair.known]?.id]));
  const taken = new Set(all.map(({ id }) => id));
  const turns: StoredTurn[] = [];
  for (const [index, turn] of stored.entries()) {
    const run = runs.get(index);
    if (run === undefined && index <= lastStored) continue;
    // If the agent has started its ids over, this id is taken by an earlier turn.
    const own = taken.has(turn.turnId) ? `${turn.turnId}:${randomUUID()}` : turn.turnId;
    const turnId = run ?? own;
    const after = turns.at(-1)?.turnId;
    const events = turn.events.map((event) => ({ ...event, turnId }));
    turns.push({ turnId, events, ...(after !== undefined && { after }) });
  }
  const left = known
    .slice((lastPair?.known ?? -1) + 1)
    .filter(({ status, trigger }) => status === 'complete' && trigger !== 'agent')
    .map(({ id }): StoredTurn => ({ turnId: id, events: [], isLeft: true }));
  return [...turns, ...left];
}

interface Pair {
  stored: number;
  known: number;
}

/**
 * Returns the best pairing of two lists, in order: the pairing with the most pairs; if several have equally many pairs,
 * the first.
 */
function align(stored: readonly TurnSignature[], known: readonly TurnSignature[]): Pair[] {
  // The number of matches of the best pairing up to each pair of positions.
  const worth = [Array.from({ length: known.length + 1 }, () => 0)];
  for (const [row, one] of stored.entries()) {
    const above = worth[row] ?? [];
    const line = [0];
    for (const [column, other] of known.entries()) {
      const likeness = similarity(one, other);
      const paired = likeness === 0 ? 0 : (above[column] ?? 0) + likeness;
      line.push(Math.max(paired, above[column + 1] ?? 0, line[column] ?? 0));
    }
    worth.push(line);
  }
  const pairs: Pair[] = [];
  let row = stored.length;
  let column = known.length;
  while (row > 0 && column > 0) {
    const here = worth[row]?.[column];
    if (here === worth[row - 1]?.[column]) row -= 1;
    else if (here === worth[row]?.[column - 1]) column -= 1;
    else {
      row -= 1;
      column -= 1;
      pairs.push({ stored: row, known: column });
    }
  }
  return pairs.toReversed();
}

/**
 * Returns 2 if both prompt and answer are the same, and 1 if only the prompt or only the answer is the same: agents
 * store some prompts in a changed form.
 */
function similarity(one: TurnSignature, other: TurnSignature): number {
  const prompts = one.prompt !== '' && one.prompt === other.prompt ? 1 : 0;
  return prompts + (one.answer !== '' && one.answer === other.answer ? 1 : 0);
}

function storedTurnSignature({ events }: StoredTurn): TurnSignature {
  const signature = { prompt: '', answer: '' };
  for (const { payload } of events) {
    if (payload.type === 'item_done') addToSignature(signature, payload.finalItem);
  }
  return signature;
}

function runSignature({ outputItems }: KnownTurn): TurnSignature {
  const signature = { prompt: '', answer: '' };
  for (const item of outputItems) addToSignature(signature, item);
  return signature;
}

/** Adds an item to a turn's signature, which consists of the user's first message and the agent's last message. */
function addToSignature(signature: TurnSignature, item: KnownTurn['outputItems'][number]): void {
  if (item.type !== 'message') return;
  const content = item.content.trim();
  if (item.origin === 'user') signature.prompt ||= content;
  if (item.origin === 'agent' && content !== '') signature.answer = content;
}
