import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { ServerMessage } from '@liminal/protocol';
import WebSocket from 'ws';
import { token } from './token.ts';

/** `fetch` would take twice as long, and the time of the HTTP client is not part of the measurement. */
const agent = new Agent({ keepAlive: true });

/** A client of a measured server. It sends commands over HTTP, and receives a session's messages over a WebSocket. */
export class Connection {
  readonly #origin: string;
  readonly #token: string;

  constructor(origin: string, key = token) {
    this.#origin = origin;
    this.#token = key;
  }

  async post(path: string, body: unknown): Promise<Record<string, unknown>> {
    return this.#ask('POST', `session/${path}`, body);
  }

  /** Sends a GET request for a path below `/api/`, and resolves with the answer. */
  async get(path: string): Promise<Record<string, unknown>> {
    return this.#ask('GET', path);
  }

  async create(cliType: string, projectDir: string): Promise<string> {
    const { sessionId } = await this.post('create', { cliType, projectDir });
    return String(sessionId);
  }

  /** Opens a WebSocket without subscriptions: by default the WebSocket for sessions. */
  async open(path = '/ws'): Promise<WebSocket> {
    const socket = new WebSocket(`${this.#origin.replace('http', 'ws')}${path}`, {
      headers: { authorization: `Bearer ${this.#token}` },
    });
    await once(socket, 'open');
    return socket;
  }

  async follow(
    sessionId: string,
    onMessage: (message: ServerMessage, bytes: number) => void,
    cursor?: string,
  ): Promise<WebSocket> {
    const socket = await this.open();
    const ready = Promise.withResolvers<void>();
    socket.on('message', (data: Buffer) => {
      const said = data.toString();
      const message = JSON.parse(said) as ServerMessage;
      if (message.type === 'session:history') ready.resolve();
      onMessage(message, said.length);
    });
    socket.send(JSON.stringify({ type: 'session:subscribe', sessionId, deltas: true, cursor }));
    await ready.promise;
    return socket;
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const asked = request(`${this.#origin}/api/${path}`, { method, headers, agent });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const given = await text(answer);
    if ((answer.statusCode ?? 500) >= 300)
      throw new Error(`${path}: ${answer.statusCode} ${given}`);
    return JSON.parse(given) as Record<string, unknown>;
  }
}
