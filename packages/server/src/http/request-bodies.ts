/** Limits for request bodies that arrive slowly, and for request bodies that the server does not read to their end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../limits.ts';
import { refuseSlowRequest } from './broken-requests.ts';

type BodyLimits = Pick<Limits, 'silenceMs' | 'drainBytes' | 'drainMs'>;

/**
 * Limits how request bodies arrive. A body may take any total time to arrive, but no pause may be longer than
 * `silenceMs`. If a request is answered before its whole body has arrived, the server still reads a part of the
 * remaining body, so that the client can read the response.
 */
export function boundBodies(app: FastifyInstance, limits: BodyLimits): void {
  refuseSilentBodies(app.server, limits.silenceMs);
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || !hasBody(raw)) return;
    // Node would close the connection together with the response, and the client could then lose the response.
    const isLast = !reply.raw.shouldKeepAlive;
    reply.removeHeader('connection');
    reply.raw.shouldKeepAlive = true;
    drain(raw, limits);
    if (isLast) raw.once('end', () => endAfter(reply.raw, raw.socket));
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding, upgrade } = headers;
  return upgrade === undefined && (encoding !== undefined || Number(length) !== 0);
}

interface Incoming {
  response: ServerResponse;
  bytesRead: number;
  /** The time at which the last byte arrived, in ms. */
  silentSince: number;
}

function refuseSilentBodies(server: Server, silenceMs: number): void {
  const incoming = new Map<IncomingMessage, Incoming>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { bytesRead } = request.socket;
    incoming.set(request, { response, bytesRead, silentSince: performance.now() });
    request.once('end', () => incoming.delete(request));
    request.once('close', () => incoming.delete(request));
  });
  const timer = setInterval(() => {
    for (const [request, one] of incoming) {
      if (isSilent(request, one, silenceMs)) refuse(request, one.response);
    }
  }, silenceMs / 4).unref();
  server.once('close', () => clearInterval(timer));
}

/**
 * Whether the client has sent nothing for longer than the limit allows. If received bytes are still unread, the server
 * is slow, and not the client.
 */
function isSilent(request: IncomingMessage, one: Incoming, silenceMs: number): boolean {
  const { bytesRead } = request.socket;
  const now = performance.now();
  if (request.complete || request.readableLength > 0 || bytesRead !== one.bytesRead) {
    Object.assign(one, { bytesRead, silentSince: now });
    return false;
  }
  return now - one.silentSince >= silenceMs;
}

function refuse({ socket }: IncomingMessage, { headersSent }: ServerResponse): void {
  if (headersSent) socket.destroy();
  else refuseSlowRequest(socket);
}

/** Reads the rest of a body, but at most `drainBytes` and for at most `drainMs`, and then ends the connection. */
function drain(request: IncomingMessage, { drainBytes, drainMs }: BodyLimits): void {
  const end = (): void => void request.destroy();
  const timer = setTimeout(end, drainMs).unref();
  let left = drainBytes;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) end();
  });
  request.on('error', () => undefined);
  for (const eventName of ['end', 'close']) request.once(eventName, () => clearTimeout(timer));
  request.resume();
}

/** Ends the connection after the response was sent. */
function endAfter(response: ServerResponse, socket: Socket): void {
  if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
}
