import type { Duplex } from 'node:stream';
import type { AgentApp } from '@agentclientprotocol/sdk/unstable';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import type { Runtime } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { errors } from '../errors.ts';
import type { Connections } from '../connections.ts';
import type { App } from '../http/schema.ts';
import type { Limits } from '../limits.ts';
import { countMessage } from '../held-bytes.ts';
import { answerPings, watchLiveness } from '../websocket/liveness.ts';
import { endSignedOut } from '../websocket/signed-out.ts';
import { acpAgent } from './agent.ts';
import { HttpConnections } from './http-connections.ts';
import { speakLines, wantsLines } from './lines.ts';
import { cutDeepMessages } from './within-depth.ts';

interface AcpRoutesOptions {
  runtime: Runtime;
  version: string;
  connections: Connections;
  limits: Limits;
}

const Query = z.object({ agent: z.string().min(1) });

/**
 * `/acp?agent=TYPE`: each connection serves one client and one agent type. The connection is a WebSocket or streamable
 * HTTP, as in the protocol's SDK, or it carries one message per line, as on stdio. `@fastify/websocket` must be
 * registered already.
 */
export async function acpRoutes(app: App, options: AcpRoutesOptions): Promise<void> {
  const { connections, limits } = options;
  const agents = new AcpAgents(options);
  const httpConnections = new HttpConnections(options);
  // Use a WebSocket server other than that of `/ws`, because messages of ACP may be larger than messages of `/ws`.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.acpMessageBytes,
    // Handle one frame per turn of the event loop, because one TCP packet can contain thousands of frames.
    allowSynchronousEvents: false,
    autoPong: false,
  });
  const upgraded = new Set<Duplex>();
  const servers = new Set<AcpServer>();
  app.addHook('preClose', async () => {
    await httpConnections.close();
    await Promise.all([...servers].map(async (server) => server.close()));
    for (const socket of upgraded) socket.destroy();
  });
  // The SDK reads the request's body itself, so Fastify must not read the body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  /** Upgrades a request's connection to ACP, by WebSocket or with one message per line. */
  const upgrade = (request: FastifyRequest, reply: FastifyReply, cliType: string): void => {
    const { socket } = request.raw;
    // The client may have disconnected during the check of its agent type.
    if (socket.destroyed) return void reply.hijack();
    const leave = connections.enter('websocket');
    upgraded.add(socket);
    socket.once('close', () => {
      upgraded.delete(socket);
      leave();
    });
    reply.hijack();
    reply.raw.detachSocket(socket);
    if (wantsLines(request)) {
      return speakLines(socket, agents.make(cliType, request), limits.acpMessageBytes);
    }
    const server = agents.server(cliType, request);
    servers.add(server);
    socket.once('close', () => servers.delete(server));
    const speak = createNodeWebSocketUpgradeHandler(server, {
      on: (event, listener) => void sockets.on(event, listener),
      off: (event, listener) => void sockets.off(event, listener),
      handleUpgrade: (raw, onSocket, head, accept) =>
        sockets.handleUpgrade(raw, onSocket, head, (opened) => {
          watchLiveness(opened, limits.heartbeatMs, socket);
          answerPings(opened);
          countMessage(app.server, socket);
          opened.on('message', () => countMessage(app.server, socket));
          request.deviceConnection?.endBy(() => endSignedOut(opened));
          accept(opened);
        }),
    });
    speak(request.raw, socket, Buffer.alloc(0));
  };
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    // The SDK accepts only an address that has no scheme and no host.
    request.raw.url = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const isNew = request.ws || request.headers['acp-connection-id'] === undefined;
    if (connections.isFull && isNew) {
      throw errors.TOO_MANY_CONNECTIONS.streams();
    }
    if (request.ws) upgrade(request, reply, await agents.typeIn(request));
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const connectionType = agents.isNamed(request) ? undefined : httpConnections.typeIn(request);
    const cliType = connectionType ?? (await agents.typeIn(request));
    const makeAgent = () => agents.make(cliType, request);
    httpConnections.answer(request, reply, { cliType, makeAgent });
  };
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/acp',
    exposeHeadRoute: false,
    config: { upgrades: ['websocket', 'acp-lines'] },
    onRequest,
    handler,
  });
}

/** Makes the ACP agent of each connection. */
class AcpAgents {
  readonly #options: AcpRoutesOptions;

  constructor(options: AcpRoutesOptions) {
    this.#options = options;
  }

  isNamed(request: FastifyRequest): boolean {
    return Query.safeParse(request.query).data?.agent !== undefined;
  }

  /** Returns the agent type in the query. Throws `INVALID_REQUEST`. */
  async typeIn(request: FastifyRequest): Promise<string> {
    const cliType = Query.safeParse(request.query).data?.agent;
    const agents = await this.#options.runtime.listAgents();
    const types = agents.map((one) => one.cliType);
    if (cliType === undefined) throw errors.INVALID_REQUEST.agentMissing(types);
    if (types.includes(cliType)) return cliType;
    throw errors.INVALID_REQUEST.unknownAgent(cliType, types);
  }

  make(cliType: string, { log }: FastifyRequest): AgentApp {
    const { runtime, version } = this.#options;
    const onProblem = (error: unknown) =>
      log.warn({ err: error, cliType }, 'an ACP client could not be served');
    return cutDeepMessages(acpAgent({ runtime, cliType, version, onProblem }));
  }

  /** Returns the SDK's server for one connection. */
  server(cliType: string, request: FastifyRequest): AcpServer {
    return new AcpServer({
      createAgent: () => this.make(cliType, request),
      maxBufferedBytes: this.#options.limits.acpMessageBytes * 2,
    });
  }
}
