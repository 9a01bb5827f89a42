/** Stores attached files until the server has their message. Files may be kept after the page was closed. */
export interface FileStorage {
  get(uri: string): Promise<Blob | undefined>;
  put(uri: string, bytes: Blob): Promise<void>;
  remove(uri: string): Promise<void>;
}

/** A storage in memory, for programs: files are lost when the program ends. */
export function memoryFiles(): FileStorage {
  const kept = new Map<string, Blob>();
  return {
    get: async (uri) => kept.get(uri),
    put: async (uri, bytes) => void kept.set(uri, bytes),
    remove: async (uri) => void kept.delete(uri),
  };
}
