import { delimiter, isAbsolute } from 'node:path';

/**
 * Returns the search path without relative and empty entries. Relative and empty entries refer to the folder in which a
 * program starts, so a project could replace programs by its own.
 */
export function withoutRelative(searchPath: string): string {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  // An empty search path would mean the current folder.
  return folders.length === 0 ? '/usr/bin:/bin' : folders.join(delimiter);
}
