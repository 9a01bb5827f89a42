/** A tool's result, as the fields of the canonical output item. */
import { z } from 'zod';
import type { ContentBlock, FileDiff, OutputItem } from '@liminal/protocol';

type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

const ResultBlock = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('image'),
    source: z.looseObject({ data: z.string(), media_type: z.string() }),
  }),
  z.looseObject({ type: z.literal('tool_reference'), tool_name: z.string() }),
]);

const Patched = z.looseObject({
  filePath: z.string(),
  originalFile: z.string().nullish(),
  content: z.string().optional(),
  structuredPatch: z.array(
    z.looseObject({
      lines: z.array(z.string()),
      oldStart: z.number().optional(),
      newStart: z.number().optional(),
    }),
  ),
});

/** The structured result of a subagent's call: the report without Claude Code's explanations for the model. */
const Report = z.discriminatedUnion('status', [
  z.looseObject({
    status: z.literal('completed'),
    content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })),
  }),
  z.looseObject({ status: z.literal('async_launched'), agentId: z.string() }),
]);

const agentTools = new Set(['Agent', 'Task']);

export interface ToolResult {
  callId: string;
  content: unknown;
  isError: boolean;
  /** The tool's structured result; `content` is the text for the model. */
  structured?: unknown;
}

/**
 * Returns the fields of the output item. If the item has no field for a part of the result, that part is kept as `raw`.
 */
export function readToolResult(
  toolName: string | undefined,
  result: ToolResult,
): Pick<CallOutput, 'output' | 'success' | 'blocks' | 'diffs' | 'exitCode' | 'raw'> {
  const content = agentTools.has(toolName ?? '') ? readReport(result) : result.content;
  const { output, blocks, unread } = readContent(content);
  const diffs = result.isError ? [] : patchDiffs(result.structured);
  const exitCode = toolName === 'Bash' ? bashExitCode(output, result.isError) : undefined;
  return {
    output: cleaned(output, exitCode),
    success: !result.isError,
    ...(blocks.length > 0 && { blocks }),
    ...(diffs.length > 0 && { diffs }),
    ...(exitCode !== undefined && { exitCode }),
    ...(unread.length > 0 && { raw: unread }),
  };
}

function readReport({ structured, content }: ToolResult): unknown {
  const report = Report.safeParse(structured).data;
  if (report === undefined) return content;
  if (report.status === 'async_launched') return 'It works in the background.';
  return report.content.filter(({ text }) => !text.startsWith('<tools-used-before-summary>'));
}

function readContent(content: unknown): {
  output: string;
  blocks: ContentBlock[];
  unread: unknown[];
} {
  if (typeof content === 'string') return { output: content, blocks: [], unread: [] };
  const texts: string[] = [];
  const blocks: ContentBlock[] = [];
  const unread: unknown[] = [];
  for (const value of Array.isArray(content) ? content : content == null ? [] : [content]) {
    const block = ResultBlock.safeParse(value).data;
    if (block === undefined) unread.push(value);
    else if (block.type === 'text') texts.push(block.text);
    else if (block.type === 'tool_reference') texts.push(block.tool_name);
    else {
      const { data, media_type: mimeType } = block.source;
      blocks.push({ type: 'image', mimeType, data });
    }
  }
  return { output: texts.join('\n'), blocks, unread };
}

/**
 * Returns the diffs that a file tool reports. Unlike the call's arguments, these diffs contain the surrounding lines.
 */
function patchDiffs(structured: unknown): FileDiff[] {
  const patched = Patched.safeParse(structured).data;
  if (patched === undefined) return [];
  const { filePath: path, originalFile, content, structuredPatch } = patched;
  if (structuredPatch.length === 0) {
    return content === undefined ? [] : [{ path, oldText: originalFile ?? null, newText: content }];
  }
  return structuredPatch.map(({ lines, oldStart, newStart }) => ({
    path,
    oldText: side(lines, '-'),
    newText: side(lines, '+'),
    ...(oldStart !== undefined && { oldLine: oldStart }),
    ...(newStart !== undefined && { newLine: newStart }),
  }));
}

/** Returns one side of a hunk: the lines with this sign and the lines that both sides have. */
const side = (lines: string[], sign: '-' | '+'): string =>
  lines
    .filter((line) => line.startsWith(sign) || line.startsWith(' '))
    .map((line) => line.slice(1))
    .join('\n');

const exitCodeLine = /^Exit code (\d{1,15})\n?/;

function bashExitCode(output: string, isError: boolean): number | undefined {
  const stated = exitCodeLine.exec(output)?.[1];
  if (stated !== undefined) return Number(stated);
  return isError ? undefined : 0;
}

const errorTag = /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/;

/**
 * Returns the output without the text that Claude Code adds for the model, and without the exit code if `exitCode`
 * contains the exit code.
 */
function cleaned(output: string, exitCode: number | undefined): string {
  const plain = errorTag.exec(output)?.[1] ?? output;
  return exitCode === undefined ? plain : plain.replace(exitCodeLine, '');
}
