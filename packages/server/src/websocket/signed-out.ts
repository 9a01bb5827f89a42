import type { WebSocket } from '@fastify/websocket';

/** How long the client may take to close its side, in ms. */
const closeMs = 1_000;

/** Closes a socket whose browser was signed out, with 1008; messages that arrive in the meantime are dropped. */
export function endSignedOut(socket: WebSocket): void {
  socket.removeAllListeners('message');
  socket.close(1008, 'This browser was signed out.');
  const end = setTimeout(() => socket.terminate(), closeMs);
  socket.once('close', () => clearTimeout(end));
}
