import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/**
 * Ends a connection whose client has vanished: the client has a whole interval (ms) to answer a ping. While the socket
 * is paused no answers are read; then a client that accepts some of the waiting bytes counts as alive.
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

/** How many unsent bytes a socket may have before a ping ends it. */
const PONGS_MAX = 64 * 1024;

/**
 * Answers the pings of a socket that does not do so itself. Ends the socket if its client does not read the answers.
 */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data: Buffer) => {
    if (socket.bufferedAmount > PONGS_MAX) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.pong(data);
  });
}
