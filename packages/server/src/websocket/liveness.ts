import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/**
 * Ends a connection whose client has disappeared. The client must answer a ping within one interval (ms). While the
 * socket is paused, the server reads no answers. During this time a client is treated as alive if it accepts some of
 * the waiting bytes.
 */
export function watchLiveness(socket: WebSocket, intervalMs: number, raw: Socket): void {
  let hasAnswered = true;
  let acceptedBytes = 0;
  socket.on('pong', () => (hasAnswered = true));
  socket.on('message', () => (hasAnswered = true));
  const timer = setInterval(() => {
    const before = acceptedBytes;
    acceptedBytes = raw.bytesWritten - raw.writableLength;
    if (!hasAnswered && !(socket.isPaused && acceptedBytes > before)) return socket.terminate();
    hasAnswered = false;
    socket.ping();
  }, intervalMs);
  socket.once('close', () => clearInterval(timer));
}

/** If a socket has at least this number of unsent bytes, a ping ends the connection. */
const pongsMax = 64 * 1024;

/**
 * Answers the pings of a socket that has `autoPong: false`. Ends the socket if its client does not read the answers.
 */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data: Buffer) => {
    if (socket.bufferedAmount > pongsMax) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.pong(data);
  });
}
