import { once } from 'node:events';
import { ServerMessage } from '@liminal/protocol';
import WebSocket from 'ws';
import { token } from './token.ts';

/** A client of a server under measurement: commands over HTTP, a session followed over its WebSocket. */
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

  /** Asks for what stands below `/api/`. */
  async get(path: string): Promise<Record<string, unknown>> {
    return this.#ask('GET', path);
  }

  async create(cliType: string, projectDir: string): Promise<string> {
    const { sessionId } = await this.post('create', { cliType, projectDir });
    return String(sessionId);
  }

  /** Opens a WebSocket that follows nothing yet. */
  async open(): Promise<WebSocket> {
    const socket = new WebSocket(`${this.#origin.replace('http', 'ws')}/ws`, {
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
      const text = data.toString();
      const message = JSON.parse(text) as ServerMessage;
      if (message.type === 'session:history') ready.resolve();
      onMessage(message, text.length);
    });
    socket.send(JSON.stringify({ type: 'session:subscribe', sessionId, deltas: true, cursor }));
    await ready.promise;
    return socket;
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.#origin}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }
}
