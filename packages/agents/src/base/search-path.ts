import { delimiter, isAbsolute } from 'node:path';

/**
 * A search path without relative and empty entries. Those depend on the folder in which a program starts, and a project
 * could put its own programs there in place of others.
 */
export function withoutRelative(searchPath: string): string {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  // An empty search path would mean the current folder.
  return folders.length === 0 ? '/usr/bin:/bin' : folders.join(delimiter);
}
