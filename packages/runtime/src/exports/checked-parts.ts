import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type ExportPart, LiminalError, readExport } from '@liminal/protocol';
import { errors } from '../errors.ts';

/** A checked part; a blob includes its bytes. */
export type CheckedPart =
  | Exclude<ExportPart, { type: 'blob' }>
  | { type: 'blob'; hash: string; mimeType: string; bytes: Buffer };

const fileMax = 4 * 1024 ** 3;

/**
 * Reads an export like `readExport`, from bytes that may be compressed with gzip; also checks each blob's hash.
 * Throws `EXPORT_UNREADABLE`.
 * @param maxBytes - The most bytes of the uncompressed file.
 */
export async function* checkedParts(
  file: AsyncIterable<Uint8Array>,
  maxBytes = fileMax,
): AsyncGenerator<CheckedPart, void> {
  for await (const part of readExport(decodeUtf8(file, maxBytes))) {
    if (part.type !== 'blob') {
      yield part;
      continue;
    }
    const { hash, mimeType, data } = part.blob;
    const bytes = Buffer.from(data, 'base64');
    if (createHash('sha256').update(bytes).digest('hex') !== hash) {
      throw errors.EXPORT_UNREADABLE.blob(hash);
    }
    yield { type: 'blob', hash, mimeType, bytes };
  }
}

async function* decodeUtf8(
  file: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string, void> {
  let size = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw errors.EXPORT_UNREADABLE.notText({ cause });
    }
  };
  for await (const bytes of unpacked(file)) {
    size += bytes.length;
    if (size > maxBytes) {
      throw errors.EXPORT_UNREADABLE.tooLarge(maxBytes / 1024 ** 3);
    }
    yield decode(bytes);
  }
  yield decode();
}

/** Yields the same bytes; if they begin like a gzip file, the uncompressed bytes. Throws `EXPORT_UNREADABLE`. */
export async function* unpacked(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const pieces = file[Symbol.asyncIterator]();
  const all = { [Symbol.asyncIterator]: () => pieces };
  const begun: Uint8Array[] = [];
  while (begun.reduce((size, { length }) => size + length, 0) < 2) {
    const step = await pieces.next();
    if (step.done === true) break;
    begun.push(step.value);
  }
  const first = Buffer.concat(begun);
  const allBytes = Readable.from(following(first, all));
  if (first[0] !== 0x1f || first[1] !== 0x8b) return yield* allBytes;
  // Errors are thrown where the pieces are read.
  const unpacking = pipeline(allBytes, createGunzip(), () => {});
  try {
    yield* unpacking;
  } catch (cause) {
    if (cause instanceof LiminalError) throw cause;
    throw errors.EXPORT_UNREADABLE.gzip({ cause });
  }
}

async function* following(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  if (first.length > 0) yield first;
  yield* rest;
}
