import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A proxy between a client and the servers, or between a server and its services. The proxy connects to one of its
 * targets at a time. If this target is not available, the proxy connects to the next target.
 */
export class Wire {
  readonly #ports: readonly number[];
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  #at: number;
  #isSevered = false;

  private constructor(ports: readonly number[], at: number, listener: Server) {
    this.#ports = ports;
    this.#at = at;
    this.#listener = listener;
    listener.on('connection', (near) => this.#pass(near));
  }

  static async open(ports: readonly number[], at: number): Promise<Wire> {
    const listener = createServer();
    const wire = new Wire(ports, at, listener);
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return wire;
  }

  get origin(): string {
    const address = this.#listener.address();
    if (address === null || typeof address === 'string') throw new Error('The wire has no port.');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Returns the server to which each open connection leads, and the server for the next connection. */
  get leadsTo(): unknown[] {
    const open = [...this.#sockets].map(({ remotePort }) => this.#ports.indexOf(remotePort ?? 0));
    return [open.filter((index) => index >= 0), this.#at % this.#ports.length];
  }

  /** Breaks all connections. Later connections lead to the given server. */
  cut(at = this.#at): void {
    this.#at = at;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Breaks all connections. For some time, also breaks new connections. */
  async sever(ms: number): Promise<void> {
    this.#isSevered = true;
    this.cut();
    await delay(ms);
    this.#isSevered = false;
  }

  /** For some time, passes no data in either direction. */
  async stall(ms: number): Promise<void> {
    const stalled = [...this.#sockets];
    for (const socket of stalled) socket.pause();
    await delay(ms);
    for (const socket of stalled) if (!socket.destroyed) socket.resume();
  }

  async close(): Promise<void> {
    this.#listener.close();
    this.cut();
    await once(this.#listener, 'close');
  }

  #pass(near: Socket): void {
    if (this.#isSevered) return void near.resetAndDestroy();
    const at = this.#at;
    const far = connect(this.#ports[at % this.#ports.length] ?? 0, '127.0.0.1');
    this.#hold(near, far);
    this.#hold(far, near);
    far.once('error', () => {
      // If the server does not listen, the next connection goes to the next server.
      if (this.#at === at) this.#at = at + 1;
    });
    near.pipe(far);
    far.pipe(near);
  }

  #hold(socket: Socket, other: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      other.destroy();
    });
  }
}
