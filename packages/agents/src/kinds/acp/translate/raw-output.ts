/** Reads the text in a tool's `rawOutput`, for which every agent has its own format. */
import { z } from 'zod';
import { readBlock } from './content.ts';
import { isRecord, pickFields } from './fields.ts';

export interface RawOutput {
  text: string;
  /** Whether the text is the whole raw output as JSON, which is shown only if the call has no other output. */
  isJson: boolean;
  /** Whether a program printed the text. */
  isPrinted: boolean;
  exitCode: number | undefined;
}

const printed = {
  aggregated_output: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number().int(),
  exitCode: z.number().int(),
};

const written = {
  output: z.string(),
  text: z.string(),
  result: z.string(),
  message: z.string(),
  error: z.string(),
  /** Text, or the blocks of an MCP server. */
  content: z.union([z.string(), z.array(z.unknown())]),
};

export function readRawOutput(raw: unknown): RawOutput {
  if (!isRecord(raw)) {
    const text = Array.isArray(raw) ? textOfBlocks(raw) : undefined;
    const isJson = text === undefined && raw !== undefined && typeof raw !== 'string';
    return { text: text ?? toText(raw), isJson, isPrinted: false, exitCode: undefined };
  }
  const { aggregated_output: all, stdout, stderr, ...codes } = pickFields(raw, printed);
  const exitCode = codes.exit_code ?? codes.exitCode;
  const text = all ?? (stdout === undefined ? stderr : `${stdout}${stderr ?? ''}`);
  if (text !== undefined) return { text, isJson: false, isPrinted: true, exitCode };
  const { content, ...words } = pickFields(raw, written);
  const word = words.output ?? words.text ?? words.result ?? words.message ?? words.error;
  const inContent = Array.isArray(content) ? textOfBlocks(content) : content;
  const resultText = word ?? inContent;
  const isJson = resultText === undefined;
  return { text: resultText ?? toText(raw), isJson, isPrinted: false, exitCode };
}

/** Returns the parts of a raw output that are not shown; the caller must keep them. */
export function restOfRawOutput(raw: unknown, shown: string): unknown {
  if (raw === undefined || toText(raw) === shown) return undefined;
  if (Array.isArray(raw)) return textOfBlocks(raw) === shown ? undefined : raw;
  if (!isRecord(raw)) return raw;
  const rest = Object.entries(raw).filter(([key, value]) => !isAlreadyShown(key, value, shown));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function isAlreadyShown(key: string, value: unknown, shown: string): boolean {
  if (value === null || value === shown || value === '') return true;
  if (key === 'exit_code' || key === 'exitCode') return Number.isInteger(value);
  return key === 'content' && Array.isArray(value) && textOfBlocks(value) === shown;
}

/** Returns the texts of content blocks, from MCP servers or models' own tools; undefined if there are other blocks. */
function textOfBlocks(blocks: readonly unknown[]): string | undefined {
  const texts: string[] = [];
  for (const block of blocks) {
    if (!isRecord(block)) return undefined;
    const isInput = block['type'] === 'input_text';
    const { text } = readBlock(isInput ? { ...block, type: 'text' } : block);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join('\n');
}

/** JSON is indented only if the result is no longer than this (characters). */
const maxIndented = 40_000;
/** The texts of values, kept because a large value is converted to text more than once. */
const textCache = new WeakMap<object, string>();

function toText(raw: unknown): string {
  if (raw === undefined) return '';
  if (typeof raw === 'string') return raw;
  if (typeof raw !== 'object' || raw === null) return JSON.stringify(raw);
  const known = textCache.get(raw);
  if (known !== undefined) return known;
  const text = indented(raw);
  textCache.set(raw, text);
  return text;
}

function indented(raw: object): string {
  const plain = JSON.stringify(raw);
  if (plain.length > maxIndented / 2) return plain;
  const lines = JSON.stringify(raw, null, 2);
  return lines.length > maxIndented ? plain : lines;
}
