/** Returns the part of a file's path that identifies the file's language: the extension or the whole name. */
export function languageOfFile(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  return name === 'CMakeLists.txt' ? 'cmake' : (name.split('.').at(-1) ?? '');
}
