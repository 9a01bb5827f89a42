/** A path as people read it: below `folder` without it, below the home folder with `~`. */
export function shortPath(path: string, folder?: string): string {
  if (folder !== undefined && folder !== '/' && path.startsWith(`${folder}/`)) {
    return path.slice(folder.length + 1);
  }
  return path.replace(/^\/(?:home|Users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/, '~');
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
