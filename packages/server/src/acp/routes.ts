import type { Duplex } from 'node:stream';
import type { AgentApp } from '@agentclientprotocol/sdk/unstable';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from '@agentclientprotocol/sdk/experimental/node';
import type { Runtime } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
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
  // A server of its own, since the other one's messages are short.
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.acpMessageBytes });
  const upgraded = new Set<Duplex>();
  app.addHook('preClose', async () => {
    await agents.close();
    for (const socket of upgraded) socket.destroy();
  });
  // The SDK reads a request's body itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  /** For requests that are to be something else than HTTP from now on. */
  const upgrade = (request: FastifyRequest, reply: FastifyReply, cliType: string): void => {
    const { socket } = request.raw;
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
    const speak = createNodeWebSocketUpgradeHandler(agents.server(cliType, request), {
      on: (event, listener) => void sockets.on(event, listener),
      off: (event, listener) => void sockets.off(event, listener),
      handleUpgrade: (raw, onSocket, head, accept) =>
        sockets.handleUpgrade(raw, onSocket, head, (opened) => {
          watchLiveness(opened, limits.heartbeatMs);
          accept(opened);
        }),
    });
    speak(request.raw, socket, Buffer.alloc(0));
  };
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    if (connections.full && request.method !== 'DELETE') {
      throw new RequestError(
        'TOO_MANY_CONNECTIONS',
        'Too many streams are open; close some first.',
      );
    }
    if (request.ws) upgrade(request, reply, await agents.typeIn(request));
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const server = agents.server(await agents.typeIn(request), request);
    const maxRequestBodyBytes = limits.acpMessageBytes;
    const answer = createNodeHttpHandler(server, { maxRequestBodyBytes });
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    answer(request.raw, reply.raw);
  };
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/acp',
    exposeHeadRoute: false,
    onRequest,
    handler,
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
