/** What of a file's path names its language. */
export function languageOfFile(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  return name === 'CMakeLists.txt' ? 'cmake' : (name.split('.').at(-1) ?? '');
}
