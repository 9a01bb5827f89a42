import { open } from 'node:fs/promises';

/** Bytes per read. */
const pieceSize = 4 * 1024 * 1024;

/** A file that another program appends to. */
export interface GrowingFile {
  path: string;
  /** The bytes read so far. */
  offset: number;
}

/** Reads the complete lines that were added to a file, up to its byte `size`, piece by piece; moves `file.offset`. */
export async function readAppendedLines(
  file: GrowingFile,
  size: number,
  onLine: (line: string) => void,
): Promise<void> {
  if (size <= file.offset) return;
  const handle = await open(file.path);
  try {
    for (let most = pieceSize; file.offset < size;) {
      const buffer = Buffer.alloc(Math.min(most, size - file.offset));
      const { bytesRead } = await handle.read({ buffer, position: file.offset });
      // Leave the text after the last line end: the text belongs to the next piece, or the program is still writing it.
      const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
      if (end === 0 && bytesRead < most) return;
      if (end === 0) most *= 2;
      file.offset += end;
      for (const line of buffer.toString('utf8', 0, end).split('\n')) onLine(line);
    }
  } finally {
    await handle.close();
  }
}
