import type { WebSocket } from '@fastify/websocket';

/** Ends a connection whose other side has vanished: it has a whole interval (ms) to answer a ping. */
export function watchLiveness(socket: WebSocket, intervalMs: number): void {
  let heard = true;
  socket.on('pong', () => (heard = true));
  socket.on('message', () => (heard = true));
  const timer = setInterval(() => {
    if (!heard) return socket.terminate();
    heard = false;
    socket.ping();
  }, intervalMs);
  socket.once('close', () => clearInterval(timer));
}
