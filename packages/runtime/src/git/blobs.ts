import type { Repository } from './repository.ts';
import { gitOutput } from './run-git.ts';

/** The committed content of a file, or the reason why the content is not read. */
export type Committed = Buffer | 'large' | 'limit' | 'missing';

/** Returns blobs by their ids, none larger than `each`, and together not larger than `all` bytes. */
export async function readBlobs(
  { top }: Repository,
  ids: readonly string[],
  { each, all }: { each: number; all: number },
  signal: AbortSignal,
): Promise<Map<string, Committed>> {
  const blobs = new Map<string, Committed>();
  const sizes = await catFile(top, '--batch-check', [...new Set(ids)], signal);
  const wanted: string[] = [];
  let total = 0;
  for (const line of sizes.toString('latin1').split('\n')) {
    const [id = '', kind, size = ''] = line.split(' ');
    if (kind !== 'blob') blobs.set(id, 'missing');
    else if (Number(size) > each) blobs.set(id, 'large');
    else if (total + Number(size) > all) blobs.set(id, 'limit');
    else {
      total += Number(size);
      wanted.push(id);
    }
  }
  const content = await catFile(top, '--batch', wanted, signal);
  let at = 0;
  while (at < content.length) {
    const end = content.indexOf('\n', at);
    const [id = '', kind, size = ''] = content.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (kind !== 'blob') continue;
    blobs.set(id, content.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return blobs;
}

async function catFile(
  top: string,
  how: '--batch' | '--batch-check',
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Buffer> {
  if (ids.length === 0) return Buffer.alloc(0);
  const input = `${ids.join('\n')}\n`;
  const answer = await gitOutput(top, ['cat-file', how], { signal, input }, outputMax);
  return answer.kind === 'done' ? answer.output : Buffer.alloc(0);
}

/** The most output of git, in bytes: slightly more than `all`, because git writes a line for each blob. */
const outputMax = 64 * 1024 * 1024;
