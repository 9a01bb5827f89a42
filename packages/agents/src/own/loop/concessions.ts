/**
 * Removes or converts the parts of a conversation that a server rejects. Pure. The log keeps the removed parts, and a
 * text replaces each removed file and call.
 */
import { createHash } from 'node:crypto';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';
import { withCallsAsText } from './calls-as-text.ts';
import { withBlocks, withoutBytes, withSendableFiles } from './sendable.ts';

/** A server's or chat template's rules about all messages. */
export type Rule =
  /** Call ids must have nine letters or digits. */
  | 'ids'
  /** User and model alternate, and no user message follows a tool's output directly. */
  | 'turns';

/**
 * The parts that an item can lose: its files, the whole item (thoughts), the fields of its maker, its form as a call.
 */
export const losses = ['file', 'thought', 'fields', 'call'] as const;
export type Loss = (typeof losses)[number];

export interface Concessions {
  has: (rule: Rule) => boolean;
  /** @param from - An item; for files, a block of an item. */
  loses: (loss: Loss, from: OutputItem | ContentBlock) => boolean;
}

/**
 * Returns the conversation in the form that is sent: changed by these concessions, and without files that no server
 * accepts.
 */
export function withConcessions(
  conversation: readonly OutputItem[],
  { has, loses }: Concessions,
): readonly OutputItem[] {
  const converted = withCallsAsText(conversation, (call) => loses('call', call));
  const items = converted.flatMap((item) => {
    if (item.type === 'reasoning' && loses('thought', item)) return [];
    const plain = withBlocks(item, (block) => (loses('file', block) ? withoutBytes(block) : block));
    const sent = withSendableFiles(plain);
    return loses('fields', item) ? withoutFields(sent) : sent;
  });
  const inTurns = has('turns') ? alternating(items) : items;
  return has('ids') ? withShortIds(inTurns) : inTurns;
}

/**
 * Returns the item without the fields of its maker; returns nothing for a reasoning item, because only the item's maker
 * can use it.
 */
function withoutFields(item: OutputItem): OutputItem | [] {
  if (item.type === 'reasoning') return [];
  const { raw, ...rest } = item;
  return raw === undefined ? item : rest;
}

/** Returns whether an item is thinking that can be read only by the server that wrote the item. */
export function isThought(item: OutputItem): boolean {
  if (item.type !== 'reasoning') return false;
  const kinds = [item.raw].flat().flatMap((kept) => {
    const native: unknown = isRecord(kept) ? kept['anthropic'] : undefined;
    return isRecord(native) ? [native['type']] : [];
  });
  return kinds.every((kind) => kind === 'thinking' || kind === 'redacted_thinking');
}

type ItemRole = 'user' | 'agent' | 'tool';

function roleOf(item: OutputItem): ItemRole | undefined {
  if (item.type === 'function_call') return 'agent';
  if (item.type === 'function_call_output') return 'tool';
  if (item.type !== 'message' || item.origin === 'system') return undefined;
  return item.origin === 'user' ? 'user' : 'agent';
}

/**
 * Returns a conversation that begins with a message of the user, and ends with a message of the user or a tool's
 * output. A message of the model separates a tool's output from a message of the user. Files that tools returned are
 * moved into a user message after all tool outputs, because some servers reject files in a tool output.
 */
function alternating(conversation: readonly OutputItem[]): OutputItem[] {
  const ordered: OutputItem[] = [];
  const shown: OutputItem[] = [];
  let last: ItemRole | undefined;
  const add = (item: OutputItem): void => {
    const side = roleOf(item);
    const { id } = item;
    if (last === undefined && side === 'agent')
      ordered.push(textMessage(id, 'user', '(No message.)'));
    if (last === 'tool' && side === 'user')
      ordered.push(textMessage(id, 'agent', 'I have the result.'));
    ordered.push(item);
    last = side ?? last;
  };
  const show = (): void => {
    for (const item of shown.splice(0)) add(item);
  };
  for (const item of conversation) {
    if (item.type !== 'function_call_output') show();
    if (item.type !== 'function_call_output' || item.blocks === undefined) {
      add(item);
      continue;
    }
    const { blocks, ...rest } = item;
    add(rest);
    shown.push({ ...textMessage(item.id, 'user', 'From the tool:'), blocks });
  }
  show();
  if (last === 'agent') ordered.push(textMessage(ordered.at(-1)?.id ?? '', 'user', '(Go on.)'));
  return ordered;
}

const textMessage = (id: string, origin: 'user' | 'agent', content: string): MessageItem => ({
  type: 'message',
  id: `${id}:${origin}`,
  origin,
  content,
});
type MessageItem = Extract<OutputItem, { type: 'message' }>;

const shortIdPattern = /^[a-zA-Z0-9]{9}$/;

/** Gives every call, and its output, an id of nine letters and digits. */
function withShortIds(conversation: readonly OutputItem[]): OutputItem[] {
  const taken = new Set<string>();
  const ids = new Map<string, string>();
  const take = (callId: string): string => {
    let short = callId;
    for (let count = 0; !shortIdPattern.test(short) || taken.has(short); count += 1) {
      short = createHash('sha256').update(`${callId}:${count}`).digest('hex').slice(0, 9);
    }
    taken.add(short);
    ids.set(callId, short);
    return short;
  };
  return conversation.map((item) => {
    if (item.type === 'function_call') return { ...item, callId: take(item.callId) };
    if (item.type !== 'function_call_output') return item;
    return { ...item, callId: ids.get(item.callId) ?? item.callId };
  });
}
