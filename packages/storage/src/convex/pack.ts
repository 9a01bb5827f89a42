/** Converts a Response to the deployment's documents. */
import { createHash } from 'node:crypto';
import {
  maxHeadSize,
  type OutputItem,
  type Response,
  type Usage,
  withinSize,
} from '@liminal/protocol';
import type { FunctionArgs } from 'convex/server';
import { callHashOf } from '../store/call-hash.ts';
import { wholeCharacter } from '../store/match.ts';
import { isSettled, searchableText } from '../store/searchable-text.ts';
import { textKey } from '../store/text-key.ts';
import { wordList } from '../store/words.ts';
import type { api } from './deployment.ts';

type SavedRun = FunctionArgs<typeof api.responses.save>['runs'][number];
export type PackedMessage = SavedRun['message'];
export type ItemPartRow = SavedRun['rows'][number];

/** The most characters per document: a document may have 1 MiB, and a character up to three bytes. */
const partMax = 200_000;

/** An item in its stored form. */
export interface PackedItem {
  /** A hash of the item's text and words. */
  mark: string;
  rows: ItemPartRow[];
  /** The total size of the item's rows, in bytes. */
  size: number;
}

/**
 * Converts a Response without its items to a document. A head that is too long for a document is cut. Agents' heads are
 * limited to that length anyway.
 */
export function packMessage({ outputItems, ...whole }: Response): PackedMessage {
  const head = withinSize(whole, maxHeadSize);
  const { usage, finishReason, error } = head;
  return {
    runId: textKey(head.id),
    turnId: textKey(head.turnId),
    threadId: textKey(head.sessionId),
    ...(head.agentId !== undefined && { agentId: textKey(head.agentId) }),
    modelId: textKey(head.modelId),
    providerId: textKey(head.providerId),
    status: head.status,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    lastSeq: head.lastSeq,
    ...(usage !== undefined && { usage: tokensOf(usage) }),
    ...(finishReason !== null && { finishReason }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    head: JSON.stringify(head),
    itemCount: outputItems.length,
  };
}

function tokensOf({ inputTokens, outputTokens }: Usage): NonNullable<PackedMessage['usage']> {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

export function packItem(item: OutputItem, index: number, status: Response['status']): PackedItem {
  const json = JSON.stringify(item);
  const words = isSettled(item, status) ? wordList(searchableText(item)) : undefined;
  const callHash = callHashOf(item);
  const rows = splitText(json).map((text, part) => ({
    index,
    part,
    text,
    ...(part === 0 && words !== undefined && { words }),
    ...(part === 0 && callHash !== undefined && { callHash }),
  }));
  const hash = createHash('sha256').update(json).digest('base64');
  return {
    mark: words === undefined ? hash : `${hash} with words`,
    rows,
    size: bytesOf(rows),
  };
}

export function bytesOf(rows: readonly ItemPartRow[]): number {
  return rows.reduce(
    (sum, { text, words = '' }) => sum + Buffer.byteLength(text) + Buffer.byteLength(words),
    0,
  );
}

/**
 * Splits a text into parts that fit into a document. Never splits inside a surrogate pair, because Convex would refuse
 * half of a pair.
 */
export function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = wholeCharacter(text, Math.min(text.length, from + partMax));
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}
