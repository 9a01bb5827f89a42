/**
 * Stores attached files until the server has received their message. The storage may keep files after the page is
 * closed.
 */
export interface FileStorage {
  get(uri: string): Promise<Blob | undefined>;
  put(uri: string, bytes: Blob): Promise<void>;
  remove(uri: string): Promise<void>;
}

/** Returns a storage in memory, for programs. Its files are lost when the program ends. */
export function memoryFiles(): FileStorage {
  const kept = new Map<string, Blob>();
  return {
    get: async (uri) => kept.get(uri),
    put: async (uri, bytes) => void kept.set(uri, bytes),
    remove: async (uri) => void kept.delete(uri),
  };
}
