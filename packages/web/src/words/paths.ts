/** The home folder of the server's user; undefined until the server has reported it. */
let home: string | undefined;

export function setHome(folder: string): void {
  home = folder;
}

/** Matches the home folders of common systems. Used until the server's home folder is known. */
const anyHome = /^\/(?:home|Users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/;

/**
 * Returns a path for people: relative to `folder` if the path is below `folder`, and with `~` if it is below the home
 * folder.
 */
export function shortPath(path: string, folder?: string): string {
  if (folder !== undefined && folder !== '/' && path.startsWith(`${folder}/`)) {
    return path.slice(folder.length + 1);
  }
  if (home === undefined) return path.replace(anyHome, '~');
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
