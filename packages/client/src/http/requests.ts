import {
  type OperationResult,
  fillPath,
  type ImportResult,
  type Methods,
  type Operation,
  operations,
  requestParts,
  serverOperations,
  type UploadedBlob,
} from '@liminal/protocol';
import { ApiError } from './api-error.ts';
import { call, getFile, type HttpOptions, sendFile, streamFile } from './call.ts';

type SearchOperation = typeof operations.search;

/** All HTTP requests of the protocol's table. Each request rejects with `ApiError`. */
export interface Requests extends Omit<Methods<typeof operations>, 'search'> {
  /**
   * Finds the titles of sessions and the items that contain every word of `text`; at most `limit` (default 20, maximum
   * 100). `signal` cancels the search.
   */
  search(
    text: string,
    options?: { projectId?: string; limit?: number; signal?: AbortSignal },
  ): Promise<OperationResult<SearchOperation>>;
  /**
   * Stores a file on the server. A block of a message can then refer to the file by the `uri` that is returned. The
   * default of `mimeType` is the file's own type.
   */
  putBlob(file: Blob, options?: { mimeType?: string; signal?: AbortSignal }): Promise<UploadedBlob>;
  /** Returns a file of a message, by the hash in the file's `uri`. */
  getBlob(hash: string, options?: { signal?: AbortSignal }): Promise<Blob>;
  /**
   * Returns a session as a file, streamed as JSON Lines. If the last line is not of type `end`, the file is incomplete.
   */
  exportSession(
    sessionId: string,
    options?: { signal?: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>>;
  /** Uploads the file of a session. The file may be compressed with gzip. */
  importSession(file: Blob, options?: { signal?: AbortSignal }): Promise<ImportResult>;
}

/** Makes a typed function for each request. The protocol's schemas check the answers. */
export function createRequests(options: HttpOptions): Requests {
  const methods = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: unknown[]) => callOperation(options, operation, args),
  ]);
  const requests = Object.fromEntries(methods) as Methods<typeof operations>;
  return {
    ...requests,
    search: (text, { signal, ...rest } = {}) =>
      callOperation(options, operations.search, [text, rest], signal) as Promise<
        OperationResult<SearchOperation>
      >,
    putBlob: async (file, { mimeType = file.type, signal } = {}) => {
      const { path, answer } = serverOperations.putBlob;
      const type = mimeType === '' ? 'application/octet-stream' : mimeType;
      const given = await sendFile(options, path, file, { mimeType: type, signal });
      return parse(answer, given, path) as UploadedBlob;
    },
    getBlob: (hash, { signal } = {}) =>
      getFile(options, fillPath(serverOperations.getBlob, { hash }), signal),
    exportSession: (id, { signal } = {}) =>
      streamFile(options, fillPath(serverOperations.exportSession, { id }), signal),
    importSession: async (file, { signal } = {}) => {
      const { path, answer } = serverOperations.importSession;
      const given = await sendFile(options, path, file, {
        mimeType: 'application/x-ndjson',
        signal,
      });
      return parse(answer, given, path) as ImportResult;
    },
  };
}

async function callOperation(
  options: HttpOptions,
  operation: Operation,
  args: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { method, answer, unwrap, query } = operation;
  const { ids, content } = requestParts(operation, args);
  const path = fillPath(operation, ids) + (query ? queryString(content) : '');
  const given = await call(options, method, path, query ? undefined : content, signal);
  if (!answer) return undefined;
  const parsed = parse(answer, given, path);
  return unwrap === undefined ? parsed : (parsed as Record<string, unknown>)[unwrap];
}

function parse(schema: NonNullable<Operation['answer']>, given: unknown, path: string): unknown {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const message = `The server's answer to ${path} has a wrong shape.`;
  throw new ApiError('UNEXPECTED_ANSWER', 200, message, { cause: parsed.error });
}

function queryString(values: object = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? '' : `?${given.toString()}`;
}
