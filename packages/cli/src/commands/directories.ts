import { resolve } from 'node:path';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface DirectoriesFlags {
  add?: string[];
  remove?: string[];
}

/** Adds folders to a session, or takes some away, and prints those that it has beside its project's. */
export async function directories(
  sessionId: string,
  { add = [], remove = [] }: DirectoriesFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    const { additionalDirectories } = await requests.changeDirectories(sessionId, {
      add: add.map((each) => resolve(each)),
      remove: remove.map((each) => resolve(each)),
    });
    for (const folder of additionalDirectories) console.log(oneRow(folder));
    return 0;
  } finally {
    await close();
  }
}
