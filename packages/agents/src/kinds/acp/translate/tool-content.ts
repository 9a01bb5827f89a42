/** Reads the content of a tool call. */
import { z } from 'zod';
import type { ContentBlock, FileDiff, ToolLocation } from '@liminal/protocol';
import { readBlock } from './content.ts';
import { readFields } from './fields.ts';

/** A piece of output: text, or a terminal's output. */
export type OutputPart = { text: string } | { terminalId: string };

export interface ToolContent {
  parts: OutputPart[];
  blocks: ContentBlock[];
  diffs: FileDiff[];
  /** The parts that cannot be shown. */
  unread: unknown[];
}

const entry = {
  type: z.string(),
  content: z.unknown(),
  path: z.string(),
  oldText: z.string(),
  newText: z.string(),
  terminalId: z.string(),
  sessionId: z.string(),
};

const location = { path: z.string(), line: z.number().int() };

export function readToolContent(content: readonly unknown[]): ToolContent {
  const read: ToolContent = { parts: [], blocks: [], diffs: [], unread: [] };
  for (const value of content) {
    const { fields, rest } = readFields(value, entry);
    const { type, path, newText, terminalId, oldText, sessionId } = fields;
    // Skip the link to a subagent's session: the session itself is shown below the call.
    if (type === 'session' && sessionId !== undefined) continue;
    if (type === 'content') addBlock(read, fields.content);
    else if (type === 'terminal' && terminalId !== undefined) read.parts.push({ terminalId });
    else if (type === 'diff' && path !== undefined && newText !== undefined) {
      read.diffs.push({ path, oldText: oldText ?? null, newText });
    } else {
      read.unread.push(value);
      continue;
    }
    if (rest !== undefined) read.unread.push(rest);
  }
  return read;
}

/** Returns whether an entry of a call's content has a type that ACP defines. */
export function isKnownContent(value: unknown): boolean {
  const { type = '' } = readFields(value, entry).fields;
  return ['content', 'diff', 'terminal', 'session'].includes(type);
}

function addBlock(read: ToolContent, content: unknown): void {
  const { text, block, unread } = readBlock(content);
  if (text !== undefined) read.parts.push({ text });
  if (block !== undefined) read.blocks.push(block);
  if (unread !== undefined) read.unread.push(unread);
}

export function readLocations(values: readonly unknown[]): {
  locations: ToolLocation[];
  unread: unknown[];
} {
  const unread: unknown[] = [];
  const locations = values.flatMap((value) => {
    const { fields, rest } = readFields(value, location);
    const { path, line } = fields;
    if (path === undefined || rest !== undefined) unread.push(value);
    return path === undefined ? [] : [{ path, ...(line !== undefined && { line }) }];
  });
  return { locations, unread };
}
