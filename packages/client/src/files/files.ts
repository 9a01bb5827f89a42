import { blobHash, type ContentBlock, LiminalError } from '@liminal/protocol';
import { describeError, isForLater } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { Later } from '../socket/later.ts';
import { Cell, type Store } from '../store.ts';
import { localUri, newLocalUri, withUri } from './local-uri.ts';
import type { FileStorage } from './storage.ts';

/** How far a file is on its way to the server; `waiting`: the server is away, `failed`: a person must decide. */
export type Upload =
  | { readonly state: 'uploading' | 'uploaded' | 'waiting' }
  | { readonly state: 'failed'; readonly problem: { code: string; message: string } };

interface FilesDeps {
  requests: Pick<Requests, 'putBlob' | 'getBlob'>;
  storage: FileStorage;
  /** Whether the server is connected, as far as is known; when that changes, the owner calls `flush`. */
  isConnected: () => boolean;
}

/**
 * Files of messages. One that is attached here is kept on this device under a local name, and uploaded; a message may
 * be sent before that is done.
 */
export class Files {
  /** By local name. */
  readonly uploads: Store<ReadonlyMap<string, Upload>>;
  readonly #cell = new Cell<ReadonlyMap<string, Upload>>(new Map());
  readonly #deps: FilesDeps;
  /** Names on the server, or promises of them, by local name. */
  readonly #named = new Map<string, Promise<string>>();
  /** What storage would not take. */
  readonly #unkept = new Map<string, Blob>();
  readonly #again = new Later(() => this.flush());

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.uploads = this.#cell;
  }

  close(): void {
    this.#again.cancel();
  }

  /** Keeps a file on this device. Returns its local name, which `upload` and blocks take. */
  async keep(bytes: Blob): Promise<string> {
    const uri = newLocalUri();
    // Full or closed storage is no reason not to send it.
    await this.#deps.storage.put(uri, bytes).catch(() => this.#unkept.set(uri, bytes));
    return uri;
  }

  /** The bytes of a file, by either name. Throws `FILE_LOST`, or as the server refuses. */
  async read(uri: string): Promise<Blob> {
    const local = await this.#local(uri);
    if (local !== undefined) return local;
    const hash = blobHash(await (this.#named.get(uri) ?? uri));
    if (hash === undefined) throw lost();
    return this.#deps.requests.getBlob(hash);
  }

  /** Begins to upload a file, unless that was tried; `uploads` tells how far it is. */
  start(uri: string): void {
    if (!this.#cell.getSnapshot().has(uri)) this.#upload(uri).catch(() => undefined);
  }

  /** Tries once more to upload a file. */
  retry(uri: string): void {
    this.#upload(uri).catch(() => undefined);
  }

  /** Uploads what waits for the server now. */
  flush(): void {
    this.#again.cancel();
    for (const [uri, { state }] of this.#cell.getSnapshot())
      if (state === 'waiting') this.retry(uri);
  }

  /** Blocks with all their bytes on the server. Throws `FILE_LOST`, or as the server refuses. */
  async onServer(blocks: readonly ContentBlock[]): Promise<ContentBlock[]> {
    return Promise.all(
      blocks.map(async (block) => {
        const uri = localUri(block);
        return uri === undefined ? block : withUri(block, await this.#upload(uri));
      }),
    );
  }

  /** The server has dropped an upload: the files are uploaded again when they are next asked for. False if there are none. */
  uploadAnew(blocks: readonly ContentBlock[]): boolean {
    const uris = localUris(blocks);
    for (const uri of uris) this.#named.delete(uri);
    return uris.length > 0;
  }

  /** Removes files from this device. Those on the server can still be read, also by their local names. */
  forget(blocks: readonly ContentBlock[]): void {
    const uris = localUris(blocks);
    for (const uri of uris) {
      this.#unkept.delete(uri);
      void this.#deps.storage.remove(uri).catch(() => undefined);
    }
    if (uris.length === 0) return;
    this.#cell.update((all) => new Map([...all].filter(([uri]) => !uris.includes(uri))));
  }

  /** Resolves with the file's name on the server; an upload under way is joined. */
  #upload(uri: string): Promise<string> {
    const known = this.#named.get(uri);
    if (known !== undefined) return known;
    this.#tell(uri, { state: 'uploading' });
    const uploading = this.#attempt(uri).catch((error: unknown) => {
      this.#named.delete(uri);
      this.#failed(uri, error);
      throw error;
    });
    this.#named.set(uri, uploading);
    return uploading;
  }

  async #attempt(uri: string): Promise<string> {
    const bytes = await this.#local(uri);
    if (bytes === undefined) throw lost();
    const uploaded = await this.#deps.requests.putBlob(bytes);
    this.#tell(uri, { state: 'uploaded' });
    this.#again.worked();
    return uploaded.uri;
  }

  #failed(uri: string, error: unknown): void {
    if (!isForLater(error)) {
      return this.#tell(uri, { state: 'failed', problem: describeError(error) });
    }
    this.#tell(uri, { state: 'waiting' });
    // Without a connection, it goes on as soon as there is one.
    if (this.#deps.isConnected()) this.#again.schedule();
  }

  async #local(uri: string): Promise<Blob | undefined> {
    return this.#unkept.get(uri) ?? (await this.#deps.storage.get(uri).catch(() => undefined));
  }

  #tell(uri: string, upload: Upload): void {
    this.#cell.update((all) => new Map(all).set(uri, upload));
  }
}

function localUris(blocks: readonly ContentBlock[]): string[] {
  return blocks.map(localUri).filter((uri) => uri !== undefined);
}

function lost(): LiminalError {
  const message = 'A file of this message is not on this device any more. Attach it again.';
  return new LiminalError('FILE_LOST', message);
}
