import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Requests } from '@liminal/client';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface DirectoriesFlags {
  add?: string[];
  remove?: string[];
}

/** Adds folders to a session, or removes folders, and prints the session's additional folders. */
export async function directories(
  sessionId: string,
  { add = [], remove = [] }: DirectoriesFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    const gone = remove.map((each) => resolve(each));
    if (gone.length > 0) await assertHas(requests, sessionId, gone);
    const { additionalDirectories } = await requests.changeDirectories(sessionId, {
      add: add.map((each) => resolve(each)),
      remove: gone,
    });
    for (const folder of additionalDirectories) console.log(oneRow(folder));
    if (additionalDirectories.length === 0) {
      console.error('The session has no additional folders.');
    }
    return 0;
  } finally {
    await close();
  }
}

/** Throws LiminalError `DIRECTORY_NOT_FOUND` if the session does not have one of the folders. */
async function assertHas(
  requests: Requests,
  sessionId: string,
  folders: readonly string[],
): Promise<void> {
  const had = await requests.changeDirectories(sessionId, { add: [], remove: [] });
  const known = had.additionalDirectories.flatMap((one) => [one, realPath(one)]);
  const unknown = folders.find((one) => !known.includes(one) && !known.includes(realPath(one)));
  if (unknown === undefined) return;
  throw errors.DIRECTORY_NOT_FOUND.notAdded(oneRow(unknown), sessionId);
}

/** Returns the folder's real path, or the given path if the folder does not exist. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
