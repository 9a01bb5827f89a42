/** Answers an agent's request with a JSON-RPC error. */
export class ClientError extends Error {
  /** The JSON-RPC error code. */
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** Returns the error for a request of the agent that one of our clients has refused. */
export const clientRefused = (message: string): ClientError => new ClientError(-32603, message);
export const invalidParams = (message: string): ClientError => new ClientError(-32602, message);
export const notFound = (message: string): ClientError => new ClientError(-32002, message);

/**
 * Returns the error for a missing file. The text has the words that agents search for, because some agents do not check
 * the error's code.
 */
export const missingFile = (path: string): ClientError =>
  new ClientError(-32002, `Resource not found: ${path} does not exist (ENOENT: No such file).`, {
    uri: path,
  });
