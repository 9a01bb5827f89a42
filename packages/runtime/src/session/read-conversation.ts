import type { ContentBlock, OutputItem, Response } from '@liminal/protocol';
import type { BlobStore, ResponseStore } from '@liminal/storage';
import { bringBytes } from '../blobs/index.ts';

/** A session's runs that have ended, oldest first, with the bytes of their files; what is not stored any more is named. */
export async function readConversation(
  { store, blobs }: { store: ResponseStore; blobs: BlobStore },
  sessionId: string,
): Promise<Response[]> {
  const runs: Response[] = [];
  for (const { id, status } of (await store.listRuns(sessionId)) ?? []) {
    const run = status === 'in_progress' ? undefined : await store.getResponse(id);
    if (run === undefined) continue;
    const outputItems = await Promise.all(run.outputItems.map(async (item) => whole(blobs, item)));
    runs.push({ ...run, outputItems });
  }
  return runs;
}

async function whole(blobs: BlobStore, item: OutputItem): Promise<OutputItem> {
  if (!('blocks' in item) || item.blocks === undefined) return item;
  const bring = async (block: ContentBlock) => bringBytes(blobs, [block]).catch(() => [block]);
  const blocks = await Promise.all(item.blocks.map(bring));
  return { ...item, blocks: blocks.flat() };
}
