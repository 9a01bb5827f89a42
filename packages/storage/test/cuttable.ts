import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy to a server whose connections can be cut or silenced. */
export async function cuttable(port: number) {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isOpen = true;
  const proxy = createServer((socket) => {
    if (!isOpen) return void socket.destroy();
    clients.add(socket.on('close', () => clients.delete(socket)));
    const onward = connect(port, '127.0.0.1');
    for (const [from, to] of [[socket, onward] as const, [onward, socket] as const]) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const { port: ownPort } = address;
  return {
    port: ownPort,
    url: `redis://127.0.0.1:${ownPort}`,
    cut,
    mend: () => void (isOpen = true),
    /** Sends these bytes to every client, as if the server had sent them. */
    say: (bytes: string) => {
      for (const client of clients) client.write(bytes);
    },
    /** Drops everything that is sent on the open connections from now on; new connections work. */
    silence: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
  };
}
