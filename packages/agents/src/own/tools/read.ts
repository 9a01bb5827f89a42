import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { imageType } from '@liminal/protocol';
import { z } from 'zod';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { findPlace, openFile, type OpenFile } from './project/project-path.ts';
import { NumberedLines } from './project/numbered-lines.ts';
import { unsavedText } from './project/text-file.ts';
import type { Tool, ToolResult } from './tool.ts';
import { ToolError } from './tool-error.ts';

/** The largest image for a model, in bytes; in base64 it has 5 MiB, which every maker accepts. */
const maxImageBytes = (5 * 1024 * 1024 * 3) / 4;
/** The most bytes of a file in which lines are counted. */
const maxScannedBytes = 256 * 1024 * 1024;
/** How many of a file's first bytes are checked for a NUL character. A file with a NUL character counts as binary. */
const sampleBytes = 8 * 1024;
const chunkBytes = 256 * 1024;
const defaultLines = 2_000;
/** The image types that models can read. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the project folder.'),
  offset: z.int().min(1).optional().describe('The first line, counted from 1.'),
  limit: z.int().min(1).max(defaultLines).optional().describe('How many lines at most.'),
});
type Input = z.infer<typeof Input>;

/** Returns a tool that reads text files and shows images. */
export const readTool = (hiddenFolders: HiddenFolders): Tool<Input> => ({
  name: 'read',
  description:
    'Reads a text file of the project, with line numbers that are not part of it, or shows an image (PNG, JPEG, GIF, WebP). Long files come in parts.',
  kind: 'read',
  input: Input,
  async describe({ path, offset }, folders) {
    const { real, shown } = findPlace(folders, path, hiddenFolders);
    return {
      title: `Read ${shown}`,
      locations: [{ path: real, ...(offset !== undefined && { line: offset }) }],
    };
  },
  needs: () => undefined,
  async run(input, { signal, files, ...folders }) {
    const place = findPlace(folders, input.path, hiddenFolders);
    // If the client's file is not text, the file is read from the disk instead.
    const unsaved = await unsavedText(place, files).catch(ignoreToolError);
    if (unsaved !== undefined) return unsavedResult(unsaved.text, input);
    const file = await openFile(place);
    try {
      const first = await readChunk(file.handle, 0, file.stat.size);
      const sample = first.subarray(0, sampleBytes);
      const type = imageType(sample);
      if (type !== undefined && imageTypes.includes(type))
        return await readImage(file, type, place.shown);
      if (sample.includes(0)) {
        throw new ToolError(`“${input.path}” is a binary file: it cannot be read as text.`);
      }
      return await readLines(file.handle, first, input, signal);
    } finally {
      await file.handle.close();
    }
  },
});

function ignoreToolError(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}

function unsavedResult(text: string, input: Input): ToolResult {
  const { offset = 1, limit = defaultLines } = input;
  const lines = new NumberedLines(offset, limit);
  lines.end(text, true);
  const shown = shownLines(lines, input);
  return {
    ...shown,
    output: `${shown.output}\n(This is the editor’s text: not all of it is saved.)`,
  };
}

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

/**
 * Reads the next part of a file; empty at the file's end.
 * @param size - The expected size of the file, in bytes.
 */
async function readChunk(handle: FileHandle, at: number, size: number): Promise<Buffer> {
  const wanted = Math.min(Math.max(size - at, sampleBytes), chunkBytes);
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
  return buffer.subarray(0, bytesRead);
}

async function readLines(
  handle: FileHandle,
  first: Buffer,
  input: Input,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { offset = 1, limit = defaultLines } = input;
  const lines = new NumberedLines(offset, limit);
  const decoder = new StringDecoder('utf8');
  let at = 0;
  for (let chunk = first; chunk.length > 0 && at < maxScannedBytes;) {
    signal.throwIfAborted();
    at += chunk.length;
    lines.add(decoder.write(chunk));
    chunk = await readChunk(handle, at, at + chunkBytes);
  }
  lines.end(decoder.end(), at < maxScannedBytes);
  return shownLines(lines, input);
}

function shownLines(lines: NumberedLines, { path, offset = 1 }: Input): ToolResult {
  if (lines.total === 0) return { output: '(The file is empty.)', success: true };
  if (lines.text === '') {
    throw new ToolError(`“${path}” has ${lines.total} lines: there is no line ${offset}.`);
  }
  return { output: lines.text, success: true };
}
