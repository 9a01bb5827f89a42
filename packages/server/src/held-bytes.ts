/**
 * Bounds the memory that all clients together take: answers that they do not read, and the parts of bodies and messages
 * that they have sent so far. Each is bounded by itself; a few hundred together would fill the memory.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Limits } from './limits.ts';

interface Held {
  /** Answers of requests under way: those behind the first one wait outside of the socket. */
  responses: Set<ServerResponse>;
  /** The bytes read of the socket before the body, or message, that is being received. */
  readFrom: number | undefined;
  /** Bytes that came from the client, or were taken by it. */
  moved: number;
  /** Since when none have, in ms. */
  stillSince: number;
}

const ofServers = new WeakMap<Server, Map<Socket, Held>>();

/** Between two looks at what is held, ms. */
const LOOK_MS = 100;

/**
 * While more than `limits.heldBytes` are held, the connections end on which nothing has moved for longest. A client that
 * reads, however slowly, outlasts those that do not.
 */
export function boundHeldBytes(
  { server }: FastifyInstance,
  { heldBytes, acpMessageBytes }: Pick<Limits, 'heldBytes' | 'acpMessageBytes'>,
): void {
  const connections = new Map<Socket, Held>();
  ofServers.set(server, connections);
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
      noteMoves(socket, held);
      return { socket, held, size: sizeOf(socket, held, acpMessageBytes) };
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
  }, LOOK_MS).unref();
  server.once('close', () => clearInterval(timer));
}

/** Counts what an upgraded connection receives from now on as a message that is not over. */
export function countMessage(server: Server, socket: Socket): void {
  const held = ofServers.get(server)?.get(socket);
  if (held) held.readFrom = socket.bytesRead;
}

function noteMoves(socket: Socket, held: Held): void {
  const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  if (moved === held.moved) return;
  held.moved = moved;
  held.stillSince = performance.now();
}

/** Counts received bytes up to `maxReceived`: an imported file passes through and is not kept. */
function sizeOf(socket: Socket, { responses, readFrom }: Held, maxReceived: number): number {
  const received = readFrom === undefined ? 0 : socket.bytesRead - readFrom;
  let size = socket.writableLength + Math.min(received, maxReceived);
  for (const response of responses) if (!response.socket) size += response.writableLength;
  return size;
}
