/** What an agent asked of us cannot be done: its request is answered with this as a JSON-RPC error. */
export class ClientError extends Error {
  /** JSON-RPC's code. */
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

export const invalidParams = (message: string): ClientError => new ClientError(-32602, message);
export const notFound = (message: string): ClientError => new ClientError(-32002, message);

/** A file that is not there, in the words by which agents know that: some look for them, and not at the code. */
export const missingFile = (path: string): ClientError =>
  new ClientError(-32002, `Resource not found: ${path} does not exist (ENOENT: No such file).`, {
    uri: path,
  });
