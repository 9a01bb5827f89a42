import type { WebSocket } from '@fastify/websocket';

/** How long a client may take to close its side, in ms. */
const closeMs = 1_000;

/** Closes the socket of a signed-out browser with code 1008, and drops messages that still arrive. */
export function endSignedOut(socket: WebSocket): void {
  socket.removeAllListeners('message');
  socket.close(1008, 'This browser was signed out.');
  const end = setTimeout(() => socket.terminate(), closeMs);
  socket.once('close', () => clearTimeout(end));
}
