import type { WebSocket } from '@fastify/websocket';
import { ClientMessage, type ServerMessage } from '@liminal/protocol';
import type { Outgoing, Runtime, Subscription } from '@liminal/runtime';
import type { Connections } from '../connections.ts';
import type { Limits } from '../limits.ts';
import { parseInput } from '../parse-input.ts';
import { SendBuffer } from './send-buffer.ts';
import { SessionListFeed } from './session-list.ts';

type Subscribe = Extract<ClientMessage, { type: 'session:subscribe' }>;

interface WebSocketConnectionOptions {
  runtime: Runtime;
  connections: Connections;
  limits: Limits;
}

/**
 * One client's WebSocket, with its subscriptions, its unsent messages, and the subscriptions that wait to be loaded.
 */
export class WebSocketConnection {
  readonly #runtime: Runtime;
  readonly #connections: Connections;
  readonly #limits: Limits;
  readonly #sendBuffer: SendBuffer;
  readonly #subscriptions = new Map<string, Subscription>();
  #sessionList: SessionListFeed | undefined;
  /**
   * Subscriptions that wait until the socket has room and the running load has ended: the first response to a
   * subscription can have 8 MiB.
   */
  readonly #loads: (() => Promise<void>)[] = [];
  #isLoading = false;

  constructor(socket: WebSocket, { runtime, connections, limits }: WebSocketConnectionOptions) {
    this.#runtime = runtime;
    this.#connections = connections;
    this.#limits = limits;
    this.#sendBuffer = new SendBuffer(socket, limits.bufferBytes, () => this.#drained());
  }

  /** Handles a frame. If the message is invalid, sends an error and keeps the connection open. */
  receive(text: string): void {
    const message = parseMessage(text);
    if (typeof message === 'string') return this.#refuse('INVALID_MESSAGE', message);
    switch (message.type) {
      case 'session:subscribe':
        return this.#subscribe(message);
      case 'session:unsubscribe':
        return this.#unsubscribe(message.sessionId);
      case 'sessions:subscribe':
        return this.#watchSessions();
      case 'ping':
        return this.#send({ type: 'pong' });
    }
  }

  /** Answers a ping of the WebSocket protocol. */
  pong(data: Buffer): void {
    this.#sendBuffer.pong(data);
  }

  close(): void {
    for (const sessionId of this.#subscriptions.keys()) this.#unsubscribe(sessionId);
    this.#sessionList?.close();
  }

  /**
   * Subscribes to a session. A second subscription to the same session replaces the first one, and starts from the
   * given cursor.
   */
  #subscribe({ sessionId, cursor, deltas }: Subscribe): void {
    this.#unsubscribe(sessionId);
    if (this.#subscriptions.size >= this.#limits.subscriptionsPerSocket) {
      const most = `One connection follows at most ${this.#limits.subscriptionsPerSocket} sessions.`;
      return this.#refuse('TOO_MANY_SUBSCRIPTIONS', most, sessionId);
    }
    const sink = {
      send: (outgoing: Outgoing) => {
        const hasRoom = this.#sendBuffer.send(outgoing.bytes());
        if (outgoing.message.type === 'session:deleted') this.#unsubscribe(sessionId);
        return hasRoom;
      },
      whenRoom: (load: () => Promise<void>) => {
        this.#loads.push(load);
        this.#loadNext();
      },
    };
    this.#subscriptions.set(
      sessionId,
      this.#runtime.subscribe(sessionId, { cursor, deltas }, sink),
    );
    this.#connections.subscriptions += 1;
  }

  #unsubscribe(sessionId: string): void {
    const subscription = this.#subscriptions.get(sessionId);
    if (!subscription) return;
    this.#subscriptions.delete(sessionId);
    this.#connections.subscriptions -= 1;
    subscription.close();
  }

  /** Subscribes to the session list. A second subscription replaces the first one, and sends all sessions again. */
  #watchSessions(): void {
    this.#sessionList?.close();
    this.#sessionList = new SessionListFeed(
      this.#runtime,
      () => this.#sendBuffer.isFull,
      (message) => this.#send(message),
    );
  }

  #drained(): void {
    this.#sessionList?.drained();
    for (const subscription of this.#subscriptions.values()) {
      subscription.drained();
    }
    this.#loadNext();
  }

  #loadNext(): void {
    if (this.#isLoading || this.#sendBuffer.isFull) return;
    const load = this.#loads.shift();
    if (!load) return;
    this.#isLoading = true;
    void load().finally(() => {
      this.#isLoading = false;
      this.#loadNext();
    });
  }

  #refuse(code: string, message: string, sessionId?: string): void {
    this.#send({ type: 'session:error', code, message, ...(sessionId && { sessionId }) });
  }

  #send(message: ServerMessage): void {
    this.#sendBuffer.send(Buffer.from(JSON.stringify(message)));
  }
}

/** Returns the parsed message. If the frame is not a valid message, returns a sentence about the problem. */
function parseMessage(text: string): ClientMessage | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'The frame is not valid JSON.';
  }
  const parsed = parseInput(ClientMessage, json);
  return 'value' in parsed ? parsed.value : `The message is not valid: ${parsed.problems}.`;
}
