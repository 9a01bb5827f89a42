import type { WebSocket } from '@fastify/websocket';

/** How long the client has for its half of the close, ms. */
const closeMs = 1_000;

/** Closes a socket whose browser was signed out, with 1008; what it sends until then is dropped. */
export function endSignedOut(socket: WebSocket): void {
  socket.removeAllListeners('message');
  socket.close(1008, 'This browser was signed out.');
  const end = setTimeout(() => socket.terminate(), closeMs);
  socket.once('close', () => clearTimeout(end));
}
