import type { WebSocket } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';

/**
 * Ends a failed socket. If a client breaks the protocol or disappears, this is not the server's fault, so it is logged
 * only as `info`.
 */
export function endFailedSocket(error: Error, socket: WebSocket, request: FastifyRequest): void {
  const code = 'code' in error ? String(error.code) : '';
  const isClients = code.startsWith('WS_ERR_') || ['ECONNRESET', 'EPIPE'].includes(code);
  if (isClients) request.log.info({ code }, 'a WebSocket client vanished or broke the protocol');
  else request.log.error({ err: error }, 'a WebSocket failed');
  socket.terminate();
}
