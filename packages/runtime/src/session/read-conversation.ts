import { type ContentBlock, type OutputItem, type Response, takenBack } from '@liminal/protocol';
import type { BlobStore, ResponseStore } from '@liminal/storage';
import { loadBytes } from '../blobs/index.ts';

/**
 * Returns a session's ended runs, oldest first, with the bytes of their files. For a file that is no longer stored, the
 * run contains only the file's name. Runs that were taken back, and the runs from `rewoundTo` on, have no items: only
 * their cost is needed.
 */
export async function readConversation(
  { store, blobs }: { store: ResponseStore; blobs: BlobStore },
  sessionId: string,
  rewoundTo?: string,
): Promise<Response[]> {
  const heads = (await store.listRuns(sessionId)) ?? [];
  const gone = takenBack([...heads, { turnId: '', ...(rewoundTo !== undefined && { rewoundTo }) }]);
  const runs: Response[] = [];
  for (const head of heads) {
    if (head.status === 'in_progress') continue;
    const isGone = gone.has(head.turnId);
    const run = isGone ? { ...head, outputItems: [] } : await store.getResponse(head.id);
    if (run === undefined) continue;
    const outputItems = await Promise.all(
      run.outputItems.map(async (item) => withAllBytes(blobs, item)),
    );
    runs.push({ ...run, outputItems });
  }
  return runs;
}

async function withAllBytes(blobs: BlobStore, item: OutputItem): Promise<OutputItem> {
  if (!('blocks' in item) || item.blocks === undefined) return item;
  const load = async (block: ContentBlock) => loadBytes(blobs, [block]).catch(() => [block]);
  const blocks = await Promise.all(item.blocks.map(load));
  return { ...item, blocks: blocks.flat() };
}
