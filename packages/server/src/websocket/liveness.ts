import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/**
 * Ends a connection whose other side has vanished: it has a whole interval (ms) to answer a ping. While the socket is
 * paused no answer is read; then its other side is there if it takes some of what waits for it.
 */
export function watchLiveness(socket: WebSocket, intervalMs: number, raw: Socket): void {
  let heard = true;
  let taken = 0;
  socket.on('pong', () => (heard = true));
  socket.on('message', () => (heard = true));
  const timer = setInterval(() => {
    const before = taken;
    taken = raw.bytesWritten - raw.writableLength;
    if (!heard && !(socket.isPaused && taken > before)) return socket.terminate();
    heard = false;
    socket.ping();
  }, intervalMs);
  socket.once('close', () => clearInterval(timer));
}

/** The most bytes of a socket that wait for its client while its pings are answered. */
const PONGS_MAX = 64 * 1024;

/** Answers the pings of a socket that does not do so itself. One whose client reads no answers ends. */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data: Buffer) => {
    if (socket.bufferedAmount > PONGS_MAX) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.pong(data);
  });
}
