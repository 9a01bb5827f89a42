import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { type AgentApp, ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import type { FastifyRequest } from 'fastify';
import { type UpgradeProtocol, upgradeOf } from '../auth/access.ts';

/**
 * Upgrades a connection to ACP with one message per line, as on stdio. `liminal acp` then needs neither a WebSocket
 * client nor an HTTP client.
 */
const protocol: UpgradeProtocol = 'acp-lines';

/** The delay before the system probes an idle TCP connection, in ms. */
const keepAliveMs = 30_000;

export const wantsLines = (request: FastifyRequest): boolean => upgradeOf(request) === protocol;

/** Starts ACP on the socket of an upgrade request, with one message per line. */
export function speakLines(socket: Socket, agent: AgentApp, maxMessageBytes: number): void {
  socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, keepAliveMs);
  socket.on('error', () => socket.destroy());
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
  );
  const input = Readable.toWeb(socket) as ReadableStream<Uint8Array>;
  const stream = ndJsonStream(Writable.toWeb(socket), input, { maxMessageBytes });
  // A client that has closed only its own side of the socket still reads. Without the timeout, the socket would stay
  // half open.
  void agent.connect(stream).closed.then(() => {
    socket.setTimeout(keepAliveMs, () => socket.destroy());
    socket.destroySoon();
  });
}
