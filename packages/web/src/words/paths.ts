/** The home folder of the server's user, once the server has named it. */
let home: string | undefined;

export function setHome(folder: string): void {
  home = folder;
}

/** The home folders of common systems, used until the server's home folder is known. */
const anyHome = /^\/(?:home|Users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/;

/** A path for people: relative to `folder` if below it, with `~` if below the home folder. */
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
