import { blobHash, type ContentBlock, LiminalError, type UploadedBlob } from '@liminal/protocol';
import { describeError, isRetryable } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { RetryTimer } from '../socket/retry-timer.ts';
import { Cell, type Store } from '../store.ts';
import { localUri, newLocalUri, withUri } from './local-uri.ts';
import type { FileStorage } from './storage.ts';

/**
 * The state of a file's upload. `waiting`: the server is unavailable. `failed`: the server refused the file, and a
 * person must decide what to do.
 */
export type Upload =
  | { readonly state: 'uploading' | 'uploaded' | 'waiting' }
  | { readonly state: 'failed'; readonly problem: { code: string; message: string } };

/** The most bytes of uploaded files that stay in memory. */
const mostRecent = 16_000_000;

interface FilesDeps {
  requests: Pick<Requests, 'putBlob' | 'getBlob'>;
  storage: FileStorage;
  /**
   * Returns whether the client believes that the server is connected. When this changes, the owner must call `flush`.
   */
  isConnected: () => boolean;
}

/**
 * The files of messages. An attached file is stored on this device under a local name, and uploaded. The message of the
 * file may be sent before the upload ends.
 */
export class Files {
  /** The state of each upload, by the file's local name. */
  readonly uploads: Store<ReadonlyMap<string, Upload>>;
  readonly #cell = new Cell<ReadonlyMap<string, Upload>>(new Map());
  readonly #deps: FilesDeps;
  /** For each local name, the file's name on the server, or a promise of that name. */
  readonly #serverUris = new Map<string, Promise<string>>();
  /** The files that this device could not store, by local name. */
  readonly #unstored = new Map<string, Blob>();
  /**
   * The files that were uploaded last, by their names on the server. From these files, a message that has just been
   * sent shows its pictures without fetching them.
   */
  readonly #recent = new Map<string, Blob>();
  readonly #retryTimer = new RetryTimer(() => this.flush());

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.uploads = this.#cell;
  }

  close(): void {
    this.#retryTimer.cancel();
  }

  /** Stores a file on this device. Returns the file's local name, which `start` and blocks accept. */
  async store(bytes: Blob): Promise<string> {
    const uri = newLocalUri();
    // If the storage is full or closed, the file is kept in memory and uploaded from there.
    await this.#deps.storage.put(uri, bytes).catch(() => this.#unstored.set(uri, bytes));
    return uri;
  }

  /**
   * Returns the bytes of a file, by its local name or its name on the server. Throws `FILE_LOST`, or the error with
   * which the server refused the file.
   */
  async read(uri: string): Promise<Blob> {
    const local = await this.#local(uri);
    if (local !== undefined) return local;
    const named = await (this.#serverUris.get(uri) ?? uri);
    const recent = this.#recent.get(named);
    if (recent !== undefined) return recent;
    const hash = blobHash(named);
    if (hash === undefined) throw lost();
    return this.#deps.requests.getBlob(hash);
  }

  /** Starts to upload a file, unless its upload was already started. `uploads` contains the state of the upload. */
  start(uri: string): void {
    if (!this.#cell.getSnapshot().has(uri)) this.#upload(uri).catch(() => undefined);
  }

  /** Tries to upload a file again. */
  retry(uri: string): void {
    this.#upload(uri).catch(() => undefined);
  }

  /** Uploads all waiting files now. */
  flush(): void {
    this.#retryTimer.cancel();
    for (const [uri, { state }] of this.#cell.getSnapshot())
      if (state === 'waiting') this.retry(uri);
  }

  /**
   * Uploads the files of the blocks. Returns the blocks with the files' names on the server when the server has
   * received all files. Throws `FILE_LOST`, or the error with which the server refused a file.
   */
  async uploadAll(blocks: readonly ContentBlock[]): Promise<ContentBlock[]> {
    return Promise.all(
      blocks.map(async (block) => {
        const uri = localUri(block);
        return uri === undefined ? block : withUri(block, await this.#upload(uri));
      }),
    );
  }

  /**
   * Must be called when the server has deleted an upload, so that the next `uploadAll` uploads the files again. Returns
   * false if no block refers to a file of this device.
   */
  invalidateUploads(blocks: readonly ContentBlock[]): boolean {
    const uris = localUris(blocks);
    for (const uri of uris) this.#serverUris.delete(uri);
    return uris.length > 0;
  }

  /**
   * Removes files from this device. The server keeps its copies, and the client still finds these copies by the local
   * names.
   */
  forget(blocks: readonly ContentBlock[]): void {
    const uris = localUris(blocks);
    for (const uri of uris) {
      this.#unstored.delete(uri);
      void this.#deps.storage.remove(uri).catch(() => undefined);
    }
    if (uris.length === 0) return;
    this.#cell.update((all) => new Map([...all].filter(([uri]) => !uris.includes(uri))));
  }

  /** Resolves with the file's name on the server. If an upload of the file is in progress, waits for that upload. */
  #upload(uri: string): Promise<string> {
    const known = this.#serverUris.get(uri);
    if (known !== undefined) return known;
    this.#setUpload(uri, { state: 'uploading' });
    const uploading = this.#attempt(uri).catch((error: unknown) => {
      this.#serverUris.delete(uri);
      this.#failed(uri, error);
      throw error;
    });
    this.#serverUris.set(uri, uploading);
    return uploading;
  }

  async #attempt(uri: string): Promise<string> {
    const bytes = await this.#local(uri);
    if (bytes === undefined) throw lost();
    const uploaded = await this.#deps.requests.putBlob(bytes);
    this.#setUpload(uri, { state: 'uploaded' });
    this.#retryTimer.reset();
    this.#remember(uploaded, bytes);
    return uploaded.uri;
  }

  #remember({ uri, mimeType }: UploadedBlob, bytes: Blob): void {
    // The server decides which type the file has.
    this.#recent.set(uri, bytes.slice(0, bytes.size, mimeType));
    let total = 0;
    for (const [name, { size }] of [...this.#recent].toReversed()) {
      total += size;
      if (total > mostRecent) this.#recent.delete(name);
    }
  }

  #failed(uri: string, error: unknown): void {
    if (!isRetryable(error)) {
      return this.#setUpload(uri, { state: 'failed', problem: describeError(error) });
    }
    this.#setUpload(uri, { state: 'waiting' });
    // If there is no connection, `flush` continues the upload later.
    if (this.#deps.isConnected()) this.#retryTimer.schedule();
  }

  async #local(uri: string): Promise<Blob | undefined> {
    return this.#unstored.get(uri) ?? (await this.#deps.storage.get(uri).catch(() => undefined));
  }

  #setUpload(uri: string, upload: Upload): void {
    this.#cell.update((all) => new Map(all).set(uri, upload));
  }
}

function localUris(blocks: readonly ContentBlock[]): string[] {
  return blocks.map(localUri).filter((uri) => uri !== undefined);
}

function lost(): LiminalError {
  const message = 'A file of this message is no longer on this device. Attach it again.';
  return new LiminalError('FILE_LOST', message);
}
