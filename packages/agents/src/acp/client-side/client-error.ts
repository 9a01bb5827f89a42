/** An agent's request cannot be served: it is answered with this as a JSON-RPC error. */
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

/** A client of ours did not do what the agent asked for. */
export const clientRefused = (message: string): ClientError => new ClientError(-32603, message);
export const invalidParams = (message: string): ClientError => new ClientError(-32602, message);
export const notFound = (message: string): ClientError => new ClientError(-32002, message);

/** A missing file, in words that agents look for: some do not check the code. */
export const missingFile = (path: string): ClientError =>
  new ClientError(-32002, `Resource not found: ${path} does not exist (ENOENT: No such file).`, {
    uri: path,
  });
