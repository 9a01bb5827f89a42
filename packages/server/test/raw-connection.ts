/** A TCP connection on which a test can send any bytes at any time. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { bearer } from './harness.ts';

export class RawConnection {
  received = '';
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #changed = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(port: number, host = '127.0.0.1') {
    this.socket = connect({ port, host });
    this.socket.setEncoding('utf8').on('error', () => undefined);
    this.socket.on('data', (text: string) => {
      this.received += text;
      this.#wake();
    });
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.closed = closed;
    this.socket.once('close', () => {
      this.#isClosed = true;
      this.#wake();
      resolve();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async opened(): Promise<this> {
    if (this.socket.connecting) await once(this.socket, 'connect');
    return this;
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** Waits for the next response, and returns the response with its whole body. */
  async answer(): Promise<{ status: number; error: { code?: string; message?: string } }> {
    for (;;) {
      const found = /^HTTP\/1\.1 (\d+)[^]*?\r\ncontent-length: (\d+)[^]*?\r\n\r\n/i.exec(
        this.received,
      );
      const end = found ? found[0].length + Number(found[2]) : Infinity;
      if (found && Buffer.byteLength(this.received) >= end) {
        const text = Buffer.from(this.received).subarray(found[0].length, end).toString();
        this.received = Buffer.from(this.received).subarray(end).toString();
        const { error = {} } = JSON.parse(text) as { error?: object };
        return { status: Number(found[1]), error };
      }
      if (this.#isClosed) throw new Error(`The connection closed after: ${this.received}`);
      await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Returns the head of a request that has the token, or the given headers. */
export function head(
  port: number,
  line: string,
  headers: Record<string, string | number> = {},
): string {
  const all = { host: `127.0.0.1:${port}`, ...bearer, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
