/** Selects the items of the log that a model is sent. Pure. */
import {
  type ErrorObject,
  type EventDraft,
  isServerTurn,
  type OutputItem,
  type Response,
} from '@liminal/protocol';
import { shortenOutput } from './shorten-output.ts';

/**
 * The `raw` of a system message: the agent's text just before this message, in the same turn, replaces everything
 * earlier.
 */
export const summaryMark = { liminal: { summary: true } };

/** Returns the text after `/compact`, the focus of the summary; undefined if the message does not request a summary. */
export function compactWish(message: string): string | undefined {
  const [whole, wish = ''] = /^\/compact(?:\s+([\s\S]*))?$/.exec(message.trim()) ?? [];
  return whole === undefined ? undefined : wish;
}

/** Returns the items of stored runs, oldest first, without the server's own turns. */
export function itemsOf(runs: readonly Response[]): OutputItem[] {
  return runs.filter((run) => !isServerTurn(run)).flatMap(({ outputItems }) => outputItems);
}

/** Returns the session's cost up to the end of these runs, in US dollars; undefined if no run reports a cost. */
export function costIn(runs: readonly Response[]): number | undefined {
  return runs.map(({ usage }) => usage?.costUsd).findLast((cost) => cost !== undefined);
}

/**
 * Returns the conversation for a `ModelRequest`: the messages, calls and thoughts after the last summary, with one
 * output for every call.
 */
export function conversationOf(items: readonly OutputItem[]): OutputItem[] {
  const at = items.findLastIndex(isSummaryMark);
  const mark = items[at];
  const summary = mark && asSummary(mark, items.slice(0, at));
  return [
    ...(summary ?? []),
    ...withOutputs(inReadOrder(items.slice(at + 1).filter(isSentToModel))),
  ];
}

/** Returns the ids of a conversation's calls. */
export const callIdsOf = (conversation: readonly OutputItem[]): string[] =>
  conversation.flatMap((item) => (item.type === 'function_call' ? item.callId : []));

/**
 * Returns about the newer half of a conversation, beginning with a message of the user. Returns undefined if nothing
 * can be left out.
 */
export function newerHalf(conversation: readonly OutputItem[]): OutputItem[] | undefined {
  const sizes = conversation.map((item) => JSON.stringify(item).length);
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let left = 0;
  for (const [index, item] of conversation.entries()) {
    if (left >= half && isUsers(item)) return conversation.slice(index);
    left += sizes[index] ?? 0;
  }
  const last = conversation.findLastIndex(isUsers);
  return last > 0 ? conversation.slice(last) : undefined;
}

/** The items of a running turn, with the same order and times as in the turn's later Response. */
export class TurnItems {
  readonly #items = new Map<string, { startedAt: string; item?: OutputItem }>();

  /** All items that have ended. */
  get ended(): OutputItem[] {
    return [...this.#items.values()].flatMap(({ item }) => item ?? []);
  }

  onDraft({ payload, timestamp }: EventDraft): void {
    const { type } = payload;
    if (type === 'item_start') this.#items.set(payload.itemId, { startedAt: timestamp });
    else if (type === 'item_done') this.#end(payload.finalItem, timestamp);
    else if (type === 'item_cancelled') this.#items.delete(payload.itemId);
    else if (type === 'item_error') this.#failed(payload.itemId, payload.error, timestamp);
  }

  /** Records an item that is still open when the turn ends with an error, so that its text so far is kept. */
  note(item: OutputItem): void {
    this.#end(item, '');
  }

  #end(item: OutputItem, endedAt: string): void {
    const startedAt = this.#items.get(item.id)?.startedAt ?? endedAt;
    this.#items.set(item.id, { startedAt, item: { ...item, startedAt, endedAt } });
  }

  #failed(itemId: string, error: ErrorObject, endedAt: string): void {
    const item = this.#items.get(itemId)?.item;
    if (item) this.#end({ ...item, error }, endedAt);
  }
}

/**
 * Returns whether a model is sent the item. A message that broke off is sent, because people have read it; a call or
 * thought that broke off is not sent.
 */
function isSentToModel(item: OutputItem): boolean {
  // The output of a call already summarizes the items of a script or a subagent that ran within the call.
  if (item.parentCallId !== undefined) return false;
  switch (item.type) {
    case 'message':
      if (item.origin === 'system' || isCommand(item)) return false;
      // The page shows that the model did not read this message, so the person may have sent the message again.
      if (item.delivery === 'not_taken') return false;
      return item.content.trim() !== '' || (item.blocks?.length ?? 0) > 0;
    case 'reasoning':
    case 'function_call':
      return item.error === undefined;
    case 'function_call_output':
      return true;
    default:
      return false;
  }
}

/**
 * Whether the item is a request for a summary that failed: such a request is meant for Liminal, so the model does not
 * get the item.
 */
const isCommand = ({
  origin,
  content,
  delivery,
}: Extract<OutputItem, { type: 'message' }>): boolean =>
  origin === 'user' && delivery === undefined && compactWish(content) !== undefined;

/**
 * Moves a message that was sent during a turn to the position at which the model read the message: before the model's
 * next item. A message that was sent during a turn often began during an earlier answer.
 */
function inReadOrder(items: readonly OutputItem[]): readonly OutputItem[] {
  if (!items.some(isSteered)) return items;
  const ordered: OutputItem[] = [];
  let waiting: OutputItem[] = [];
  for (const item of items) {
    const { startedAt = '' } = item;
    if (isSteered(item)) {
      waiting.push(item);
      continue;
    }
    ordered.push(...waiting.filter(({ endedAt = '' }) => endedAt <= startedAt));
    waiting = waiting.filter(({ endedAt = '' }) => endedAt > startedAt);
    ordered.push(item);
  }
  return [...ordered, ...waiting];
}

const isSteered = (item: OutputItem): boolean =>
  item.type === 'message' && item.delivery !== undefined;

/** Gives every call exactly one output, directly after the call; drops outputs without a call. */
function withOutputs(all: readonly OutputItem[]): OutputItem[] {
  const open = new Map<string, string>();
  const result: OutputItem[] = [];
  let waiting: OutputItem[] = [];
  const flush = (): void => {
    result.push(...waiting);
    waiting = [];
  };
  const close = (): void => {
    for (const [callId, id] of open) result.push(unanswered(callId, id));
    open.clear();
    flush();
  };
  for (const item of withoutMadeAgain(all)) {
    if (item.type === 'function_call_output') {
      if (open.delete(item.callId))
        result.push(item.error === undefined ? shortenOutput(item) : markCut(shortenOutput(item)));
      if (open.size === 0) flush();
      continue;
    }
    if (open.size > 0 && isSteered(item)) {
      waiting.push(item);
      continue;
    }
    // Calls of one answer stay together, and their outputs are placed before any other item.
    if (item.type !== 'function_call' || open.has(item.callId)) close();
    if (item.type === 'function_call') open.set(item.callId, item.id);
    result.push(item);
  }
  close();
  return result;
}

/** Marks an output that broke off as not successful. */
function markCut(item: Extract<OutputItem, { type: 'function_call_output' }>): OutputItem {
  return { ...item, output: `${item.output}\n(The turn ended before this was whole.)` };
}

/** Drops each call without an output if a later turn has resumed the call under the same id. */
function withoutMadeAgain(items: readonly OutputItem[]): readonly OutputItem[] {
  const next = new Map<string, OutputItem['type']>();
  const left = new Set<OutputItem>();
  for (const item of items.toReversed()) {
    if (item.type !== 'function_call' && item.type !== 'function_call_output') continue;
    if (item.type === 'function_call' && next.get(item.callId) === item.type) left.add(item);
    next.set(item.callId, item.type);
  }
  return left.size === 0 ? items : items.filter((item) => !left.has(item));
}

function unanswered(callId: string, id: string): OutputItem {
  const output =
    'The turn ended before this had a result: it may be done, or not, or in part. Look before you do it again.';
  const type = 'function_call_output';
  return { type, id: `${id}:unanswered`, callId, output, success: false, origin: 'system' };
}

function isSummaryMark(item: OutputItem): boolean {
  if (item.type !== 'message' || item.origin !== 'system') return false;
  const { raw } = item;
  const kept: unknown[] = Array.isArray(raw) ? raw : [raw];
  return kept.some((one) => JSON.stringify(one) === JSON.stringify(summaryMark));
}

function asSummary(mark: OutputItem, before: readonly OutputItem[]): OutputItem[] {
  const texts = before
    .slice(before.findLastIndex(isUsers) + 1)
    .flatMap((item) => (item.type === 'message' && item.origin === 'agent' ? item.content : []));
  const content = `What we have said and done so far, in short:\n\n${texts.join('\n\n')}`;
  return [{ type: 'message', id: mark.id, origin: 'user', content }];
}

function isUsers(item: OutputItem): boolean {
  return item.type === 'message' && item.origin === 'user';
}
