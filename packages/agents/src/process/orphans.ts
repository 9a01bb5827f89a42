import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endMarksOf, type EndOptions } from './end-tree.ts';
import { isServerAlive, serverId } from './mark.ts';

/**
 * Ends the processes of dead servers that used this data folder, and registers this server in the folder, so that later
 * servers can end the processes of this server (invariant 8). Must be called before the first agent starts.
 */
export async function reapOrphans(
  dataDir: string,
  options: EndOptions = {},
): Promise<{ ended: number }> {
  const folder = join(dataDir, 'servers');
  await mkdir(folder, { recursive: true });
  const dead = (await readdir(folder)).filter((id) => !isServerAlive(id));
  await writeFile(join(folder, serverId), '');
  let ended = 0;
  for (const id of dead) {
    const outcome = await endMarksOf(id, options);
    ended += outcome.ended;
    if (outcome.left.length === 0) await rm(join(folder, id), { force: true });
  }
  return { ended };
}
