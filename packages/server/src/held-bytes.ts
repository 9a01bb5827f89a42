/**
 * Limits the memory that all clients together use for responses that they have not read, and for received parts of
 * bodies and messages. Each connection also has a limit of its own, but a few hundred connections at this limit would
 * fill the memory.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Limits } from './limits.ts';

interface Held {
  /** The responses of open requests. Only the first response writes to the socket; all others wait. */
  responses: Set<ServerResponse>;
  /**
   * The value of `socket.bytesRead` when the body or message that is being received began; undefined if nothing is
   * being received.
   */
  readFrom: number | undefined;
  /** The number of bytes that the client has sent or read so far. */
  moved: number;
  /** The time at which `moved` last changed, in ms. */
  stillSince: number;
}

const connectionsByServer = new WeakMap<Server, Map<Socket, Held>>();

/** The interval between two checks, in ms. */
const checkMs = 100;

/**
 * Limits the bytes that the server holds for all connections. While they are more than `limits.heldBytes`, the
 * connections that have been idle longest are ended. A client that reads slowly is therefore connected longer than an
 * idle client.
 */
export function boundHeldBytes(
  { server }: FastifyInstance,
  { heldBytes, acpMessageBytes }: Pick<Limits, 'heldBytes' | 'acpMessageBytes'>,
): void {
  const connections = new Map<Socket, Held>();
  connectionsByServer.set(server, connections);
  server.on('connection', (socket: Socket) => {
    const stillSince = performance.now();
    connections.set(socket, { responses: new Set(), readFrom: undefined, moved: 0, stillSince });
    socket.once('close', () => connections.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const held = connections.get(socket);
    if (!held) return;
    held.responses.add(response);
    held.readFrom ??= socket.bytesRead;
    response.once('close', () => {
      held.responses.delete(response);
      held.readFrom = held.responses.size > 0 ? socket.bytesRead : undefined;
    });
  });
  const timer = setInterval(() => {
    const sizes = [...connections].map(([socket, held]) => {
      updateMoved(socket, held);
      return { socket, held, size: heldBytesOf(socket, held, acpMessageBytes) };
    });
    let total = sizes.reduce((sum, { size }) => sum + size, 0);
    if (total <= heldBytes) return;
    sizes.sort((a, b) => a.held.stillSince - b.held.stillSince || b.size - a.size);
    for (const { socket, size } of sizes) {
      if (total <= heldBytes) break;
      if (size === 0) continue;
      socket.destroy();
      total -= size;
    }
  }, checkMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** From this call on, counts the bytes that an upgraded connection receives as an unfinished message. */
export function countMessage(server: Server, socket: Socket): void {
  const held = connectionsByServer.get(server)?.get(socket);
  if (held) held.readFrom = socket.bytesRead;
}

function updateMoved(socket: Socket, held: Held): void {
  const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  if (moved === held.moved) return;
  held.moved = moved;
  held.stillSince = performance.now();
}

/** Counts at most `maxReceived` received bytes. An imported file is processed in parts and is not kept in memory. */
function heldBytesOf(socket: Socket, { responses, readFrom }: Held, maxReceived: number): number {
  const received = readFrom === undefined ? 0 : socket.bytesRead - readFrom;
  let size = socket.writableLength + Math.min(received, maxReceived);
  for (const response of responses) if (!response.socket) size += response.writableLength;
  return size;
}
