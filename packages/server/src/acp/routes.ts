import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AgentApp } from '@agentclientprotocol/sdk/unstable';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { createNodeHttpHandler } from '@agentclientprotocol/sdk/experimental/node';
import type { WebSocket } from '@fastify/websocket';
import type { Runtime } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Connections } from '../connections.ts';
import { RequestError } from '../http/errors.ts';
import type { App } from '../http/schema.ts';
import type { Limits } from '../limits.ts';
import { watchLiveness } from '../websocket/liveness.ts';
import { acpAgent } from './agent.ts';
import { speakLines, wantsLines } from './lines.ts';

interface Options {
  runtime: Runtime;
  version: string;
  connections: Connections;
  limits: Limits;
}

const Query = z.object({ agent: z.string().min(1) });

/**
 * `/acp?agent=TYPE`: a connection is a client's, for one agent type. By WebSocket or streamable HTTP, as the protocol's
 * SDK has them, or by lines, as on stdio. `@fastify/websocket` must be registered already.
 */
export async function acpRoutes(app: App, options: Options): Promise<void> {
  const { connections, limits } = options;
  const agents = new Agents(options);
  /** The server for each request's agent type. */
  const chosen = new WeakMap<IncomingMessage, AcpServer>();
  const byLines = new Set<Socket>();
  app.addHook('preClose', async () => {
    for (const socket of byLines) socket.destroy();
    await agents.close();
  });
  // The SDK reads a request's body itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    if (connections.full && request.method !== 'DELETE') {
      throw new RequestError(
        'TOO_MANY_CONNECTIONS',
        'Too many streams are open; close some first.',
      );
    }
    const cliType = await agents.typeIn(request);
    if (!wantsLines(request)) {
      chosen.set(request.raw, agents.server(cliType, request));
      return;
    }
    const leave = connections.enter('websocket');
    const socket = speakLines(
      request,
      reply,
      agents.make(cliType, request),
      limits.acpMessageBytes,
    );
    byLines.add(socket);
    socket.once('close', () => {
      byLines.delete(socket);
      leave();
    });
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const server = chosen.get(request.raw);
    if (server === undefined) throw new RequestError('INVALID_REQUEST', 'Say which agent.');
    const maxRequestBodyBytes = limits.acpMessageBytes;
    const answer = createNodeHttpHandler(server, { maxRequestBodyBytes });
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    answer(request.raw, reply.raw);
  };
  app.route({ method: ['POST', 'DELETE'], url: '/acp', onRequest, handler });
  app.route({
    method: 'GET',
    url: '/acp',
    exposeHeadRoute: false,
    onRequest,
    handler,
    wsHandler: (socket: WebSocket, request) => {
      const leave = connections.enter('websocket');
      watchLiveness(socket, limits.heartbeatMs);
      socket.once('close', leave);
      // At once: what the client says first must find somebody who listens.
      chosen.get(request.raw)?.prepareWebSocketUpgrade().accept(socket);
    },
  });
}

/** An agent of the protocol for each connection, and the SDK's server for each agent type that somebody has asked for. */
class Agents {
  readonly #options: Options;
  readonly #servers = new Map<string, AcpServer>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws `INVALID_REQUEST`. */
  async typeIn(request: FastifyRequest): Promise<string> {
    const cliType = Query.safeParse(request.query).data?.agent;
    const agents = await this.#options.runtime.listAgents();
    const types = agents.map((one) => one.cliType);
    if (cliType === undefined) {
      const problem = `Say which agent: /acp?agent=… (${types.join(', ')}).`;
      throw new RequestError('INVALID_REQUEST', problem);
    }
    if (types.includes(cliType)) return cliType;
    const problem = `There is no agent ${cliType}: there are ${types.join(', ')}.`;
    throw new RequestError('INVALID_REQUEST', problem);
  }

  make(cliType: string, { log }: FastifyRequest): AgentApp {
    const { runtime, version } = this.#options;
    const onProblem = (error: unknown) =>
      log.warn({ err: error, cliType }, 'an ACP client had trouble');
    return acpAgent({ runtime, cliType, version, onProblem });
  }

  server(cliType: string, request: FastifyRequest): AcpServer {
    const known = this.#servers.get(cliType);
    if (known) return known;
    const server = new AcpServer({
      createAgent: () => this.make(cliType, request),
      maxBufferedBytes: this.#options.limits.acpMessageBytes * 2,
    });
    this.#servers.set(cliType, server);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map(async (server) => server.close()));
  }
}
