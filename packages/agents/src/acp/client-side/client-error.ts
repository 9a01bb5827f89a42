/** What an agent asked of us cannot be done: its request is answered with this as a JSON-RPC error. */
export class ClientError extends Error {
  /** JSON-RPC's code. */
  readonly rpcCode: number;

  constructor(rpcCode: number, message: string) {
    super(message);
    this.rpcCode = rpcCode;
  }
}

export const invalidParams = (message: string): ClientError => new ClientError(-32602, message);
export const notFound = (message: string): ClientError => new ClientError(-32002, message);
