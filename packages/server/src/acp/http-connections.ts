import { createNodeHttpHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import type { AgentApp } from '@agentclientprotocol/sdk/unstable';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeviceConnection } from '../auth/device-connections.ts';
import type { Connections } from '../connections.ts';
import type { Limits } from '../limits.ts';

interface HttpConnectionsOptions {
  connections: Connections;
  limits: Limits;
}

interface HttpConnection {
  server: AcpServer;
  cliType: string;
  /** The browser that opened the connection; undefined for a program with the token. */
  device: DeviceConnection | undefined;
  leave: () => void;
  openRequests: number;
  idle?: NodeJS.Timeout;
}

/** The header that contains the connection's id. Every request except the first has this header. */
const idHeader = 'acp-connection-id';

/**
 * ACP connections over streamable HTTP. The SDK keeps a connection until its client deletes the connection. This class
 * also ends a connection when the client has had no open request for `limits.acpIdleMs`, and when the client's browser
 * is signed out. A connection belongs to the browser or program that opened it. For all other clients, the connection's
 * id is unknown.
 */
export class HttpConnections {
  readonly #connections: Connections;
  readonly #limits: Limits;
  readonly #open = new Map<string, HttpConnection>();

  constructor({ connections, limits }: HttpConnectionsOptions) {
    this.#connections = connections;
    this.#limits = limits;
  }

  /**
   * Returns the agent type of the connection whose id a request contains. Returns `''` if the caller has no connection
   * with that id, so that the request is rejected as unknown. Returns undefined if the request contains no id: a
   * request that opens a connection must contain an agent type instead.
   */
  typeIn(request: FastifyRequest): string | undefined {
    const id = request.headers[idHeader];
    if (id === undefined) return undefined;
    const cliType = this.#open.get(String(id))?.cliType ?? '';
    return this.#find(String(id), cliType, request) ? cliType : '';
  }

  /** Handles a request of a client for the given agent type. Calls `makeAgent` if the request opens a connection. */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { cliType, makeAgent }: { cliType: string; makeAgent: () => AgentApp },
  ): void {
    const id = String(request.headers[idHeader] ?? '');
    const known = this.#find(id, cliType, request);
    if (known) this.#hold(known, id, reply);
    const server =
      known?.server ??
      new OpeningServer(this.#serverOptions(makeAgent), (opened, openedId) => {
        const device = request.deviceConnection;
        this.#hold(this.#add(opened, openedId, { cliType, device }), openedId, reply);
      });
    const answer = createNodeHttpHandler(server, {
      maxRequestBodyBytes: this.#limits.acpMessageBytes,
    });
    if (known && request.method === 'DELETE') reply.raw.once('close', () => void this.#end(id));
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    answer(request.raw, reply.raw);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)));
  }

  #serverOptions(createAgent: () => AgentApp) {
    return { createAgent, maxBufferedBytes: this.#limits.acpMessageBytes * 2 };
  }

  #find(id: string, cliType: string, request: FastifyRequest): HttpConnection | undefined {
    const found = this.#open.get(id);
    const isTheirs =
      found?.cliType === cliType && found.device?.deviceId === request.deviceConnection?.deviceId;
    return isTheirs ? found : undefined;
  }

  #add(
    server: AcpServer,
    id: string,
    { cliType, device }: Pick<HttpConnection, 'cliType' | 'device'>,
  ): HttpConnection {
    const connection: HttpConnection = {
      server,
      cliType,
      device: device?.another(() => void this.#end(id)),
      leave: this.#connections.enter('acpHttp'),
      openRequests: 0,
    };
    this.#open.set(id, connection);
    return connection;
  }

  /** Keeps a connection while its client has an open request, and for `acpIdleMs` after the last request. */
  #hold(connection: HttpConnection, id: string, reply: FastifyReply): void {
    connection.openRequests += 1;
    clearTimeout(connection.idle);
    const onRequestClosed = (): void => {
      connection.openRequests -= 1;
      if (connection.openRequests > 0 || !this.#open.has(id)) return;
      connection.idle = setTimeout(() => void this.#end(id), this.#limits.acpIdleMs).unref();
    };
    if (reply.raw.closed) onRequestClosed();
    else reply.raw.once('close', onRequestClosed);
  }

  async #end(id: string): Promise<void> {
    const connection = this.#open.get(id);
    if (!connection) return;
    this.#open.delete(id);
    clearTimeout(connection.idle);
    connection.leave();
    connection.device?.leave();
    await connection.server.close();
  }
}

/** An AcpServer for one connection. Reports the connection's id when the first request opens the connection. */
class OpeningServer extends AcpServer {
  readonly #onOpened: (server: AcpServer, id: string) => void;

  constructor(
    options: ConstructorParameters<typeof AcpServer>[0],
    onOpened: (server: AcpServer, id: string) => void,
  ) {
    super(options);
    this.#onOpened = onOpened;
  }

  override async handleRequest(request: Request): Promise<Response> {
    const response = await super.handleRequest(request);
    const id = response.headers.get(idHeader);
    if (id !== null && request.method === 'POST' && !request.headers.has(idHeader)) {
      this.#onOpened(this, id);
    }
    return response;
  }
}
