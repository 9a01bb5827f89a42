import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { imageType } from '@liminal/protocol';
import { z } from 'zod';
import { findPlace, openFile, type OpenFile } from './project/project-path.ts';
import { NumberedLines } from './project/numbered-lines.ts';
import { ToolError, type Tool, type ToolResult } from './tool.ts';

/** The largest image that a model is given (bytes); makers take no larger ones. */
const maxImageBytes = 5 * 1024 * 1024;
/** So much of a file is looked at to find lines (bytes). */
const maxScannedBytes = 256 * 1024 * 1024;
/** A NUL character within so many first bytes tells a binary file. */
const sampleBytes = 8 * 1024;
const chunkBytes = 256 * 1024;
const defaultLines = 2_000;
/** Those that models can look at. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const Input = z.object({
  path: z.string().min(1).describe('The file, from the project folder on.'),
  offset: z.int().min(1).optional().describe('The first line, counted from 1.'),
  limit: z.int().min(1).max(defaultLines).optional().describe('How many lines at most.'),
});
type Input = z.infer<typeof Input>;

/** Reads text files, and shows images. */
export const readTool: Tool<Input> = {
  name: 'read',
  description:
    'Reads a text file of the project, with line numbers that are not part of it, or shows an image (PNG, JPEG, GIF, WebP). Long files come in parts.',
  kind: 'read',
  input: Input,
  async face({ path, offset }, projectDir) {
    const { real, name } = findPlace(projectDir, path);
    return {
      title: `Read ${name}`,
      locations: [{ path: real, ...(offset !== undefined && { line: offset }) }],
    };
  },
  needs: () => undefined,
  async run(input, { projectDir, signal }) {
    const place = findPlace(projectDir, input.path);
    const file = await openFile(projectDir, place);
    try {
      const { buffer, bytesRead } = await file.handle.read(
        Buffer.allocUnsafe(sampleBytes),
        0,
        sampleBytes,
        0,
      );
      const sample = buffer.subarray(0, bytesRead);
      const type = imageType(sample);
      if (type !== undefined && imageTypes.includes(type))
        return await readImage(file, type, place.name);
      if (sample.includes(0)) {
        throw new ToolError(`“${input.path}” is a binary file: it cannot be read as text.`);
      }
      return await readLines(file.handle, input, signal);
    } finally {
      await file.handle.close();
    }
  },
};

async function readImage(
  { handle, stat }: OpenFile,
  mimeType: string,
  name: string,
): Promise<ToolResult> {
  if (stat.size > maxImageBytes) {
    throw new ToolError(
      `The image “${name}” has ${stat.size} bytes; at most ${maxImageBytes} can be shown. Make a smaller copy first.`,
    );
  }
  const bytes = await handle.readFile();
  return {
    output: `${name}: an image (${mimeType}, ${bytes.length} bytes).`,
    success: true,
    blocks: [{ type: 'image', mimeType, data: bytes.toString('base64'), name, size: bytes.length }],
  };
}

async function readLines(
  handle: FileHandle,
  { path, offset = 1, limit = defaultLines }: Input,
  signal: AbortSignal,
): Promise<ToolResult> {
  const lines = new NumberedLines(offset, limit);
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let at = 0;
  for (; at < maxScannedBytes;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    lines.add(decoder.write(buffer.subarray(0, bytesRead)));
  }
  lines.end(decoder.end(), at < maxScannedBytes);
  if (lines.total === 0) return { output: '(The file is empty.)', success: true };
  if (lines.text === '') {
    throw new ToolError(`“${path}” has ${lines.total} lines: there is no line ${offset}.`);
  }
  return { output: lines.text, success: true };
}
