import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';

/** A proxy between a browser and the server. The proxy has its own port, and a test can cut its connections. */
export interface Network {
  readonly port: number;
  /** Breaks every open connection. New connections work. */
  cut(): void;
  /** Breaks every connection, including new ones, until `up` is called. */
  down(): void;
  up(): void;
  close(): Promise<void>;
}

/** Opens a proxy to the server on `port`. */
export async function openNetwork(port: number): Promise<Network> {
  const sockets = new Set<Socket>();
  let isDown = false;
  const hold = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const listener = createServer((near) => {
    hold(near);
    if (isDown) {
      near.resetAndDestroy();
      return;
    }
    const far = hold(connect(port, '127.0.0.1'));
    near.on('close', () => far.destroy()).pipe(far);
    far.on('close', () => near.destroy()).pipe(near);
  });
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('The network has no port.');
  return {
    port: address.port,
    cut,
    down: () => {
      isDown = true;
      cut();
    },
    up: () => {
      isDown = false;
    },
    close: async () => {
      listener.close();
      cut();
      await once(listener, 'close');
    },
  };
}
