/** The home folder of the server's user, once the server has named it. */
let home: string | undefined;

export function setHome(folder: string): void {
  home = folder;
}

/** The home folders of common systems, for as long as the server's is not known. */
const anyHome = /^\/(?:home|Users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/;

/** A path as people read it: below `folder` without it, below the home folder with `~`. */
export function shortPath(path: string, folder?: string): string {
  if (folder !== undefined && folder !== '/' && path.startsWith(`${folder}/`)) {
    return path.slice(folder.length + 1);
  }
  if (home === undefined) return path.replace(anyHome, '~');
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
