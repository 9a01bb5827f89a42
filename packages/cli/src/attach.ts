// The library `mime` derives a file's type from its extension. The library is typed, small, and has no dependencies.
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeFile, type Requests } from '@liminal/client';
import {
  blobMax,
  blobsTogetherMax,
  blocksMax,
  type ContentBlock,
  thrownMessage,
  whyTooLarge,
} from '@liminal/protocol';
import mime from 'mime';
import { errors } from './errors.ts';

/** A file whose path was given with `--attach`. */
export interface AttachedFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Reads the files before the command starts a server or a session. Throws ConfigError if a file cannot be attached. */
export async function readAttachments(paths: readonly string[]): Promise<AttachedFile[]> {
  if (paths.length > blocksMax) throw errors.INVALID_CONFIG.attachMany(blocksMax);
  const files: AttachedFile[] = [];
  let totalSize = 0;
  for (const path of paths) {
    const size = await fileSize(path);
    totalSize += size;
    const why =
      whyTooLarge(size, blobMax, `"${path}"`) ??
      whyTooLarge(totalSize, blobsTogetherMax, 'The total of the attached files');
    if (why !== undefined) throw errors.INVALID_CONFIG.attachTooLarge(why);
    files.push({ name: basename(path), bytes: new Uint8Array(await readFile(path)) });
  }
  return files;
}

/** Uploads files and returns content blocks that refer to them. Throws ApiError if the server refuses a file. */
export async function uploadAttachments(
  requests: Pick<Requests, 'putBlob'>,
  files: readonly AttachedFile[],
): Promise<ContentBlock[]> {
  return Promise.all(
    files.map(async ({ name, bytes }) => {
      const described = { name, bytes, type: mime.getType(name) ?? '' };
      const type = mediaTypeOf(describeFile(described, ''));
      const { uri } = await requests.putBlob(new Blob([bytes]), { mimeType: type });
      return describeFile(described, uri);
    }),
  );
}

function mediaTypeOf(block: ContentBlock): string {
  return (block.type === 'resource' ? block.resource.mimeType : block.mimeType) ?? '';
}

async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing) throw errors.INVALID_CONFIG.attachMissing(path);
    throw errors.INVALID_CONFIG.attachUnreadable(path, thrownMessage(error));
  });
  if (!found.isFile()) throw errors.INVALID_CONFIG.attachNoFile(path);
  if (found.size === 0) throw errors.INVALID_CONFIG.attachEmpty(path);
  return found.size;
}
