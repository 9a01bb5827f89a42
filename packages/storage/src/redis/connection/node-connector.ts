import { connect } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';

export interface Address {
  host?: string | undefined;
  port?: number | undefined;
}

/** How long an ended connection may take to close, ms. */
const closingMs = 2_000;

/** A connector for ioredis that asks for the address before each attempt. `where` must not reject. */
export function connectorTo(where: () => Promise<Address>, tls: ConnectionOptions | undefined) {
  return class NodeConnector extends AbstractConnector {
    constructor() {
      super(closingMs);
    }

    override async connect() {
      this.connecting = true;
      const { host = '127.0.0.1', port = 6379 } = await where();
      // The connection may have been ended in the meantime.
      if (!this.connecting) throw new Error('The connection was ended before it was established.');
      this.stream = tls ? connectSecurely({ ...tls, host, port }) : connect({ host, port });
      return this.stream;
    }
  };
}
