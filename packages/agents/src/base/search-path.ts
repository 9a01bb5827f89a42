import { delimiter, isAbsolute } from 'node:path';

/**
 * A search path without relative and empty entries, which mean the folder that a program is started in: there a project
 * could put programs of its own in the place of others.
 */
export function withoutRelative(searchPath: string): string {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  // An empty path would mean the folder itself.
  return folders.length === 0 ? '/usr/bin:/bin' : folders.join(delimiter);
}
