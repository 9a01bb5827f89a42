import { setImmediate as untilHandled } from 'node:timers/promises';
import type { AnyMessage, ClientApp, ClientConnection } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { largeLine, parseLargeLine } from '../../base/large-lines.ts';
import { parseLine } from '../../base/parse-line.ts';
import { ProtocolBreach } from '../../base/protocol-breach.ts';
import { withCompleteError } from './errors.ts';
import { isRecord } from './translate/fields.ts';

/** Handles the raw content of a `session/update`. */
export type OnUpdate = (sessionId: unknown, update: unknown) => void;

interface ConnectionEvents {
  onUpdate: OnUpdate;
  /** Handles a line that is not a message. */
  onNoise: (line: string) => void;
}

/** How many of the agent's requests may wait for an answer at once; an agent with more open requests is ended. */
const maxOpenRequests = 1_000;

/** Accepts any record: the library checks messages itself. */
const JsonRpcMessage = z.custom<AnyMessage>(isRecord);

/**
 * JSON-RPC over lines. Each line is parsed once. Most lines are session updates. Session updates bypass the library,
 * because the library would drop their unknown fields. The library handles all other messages, in order with the
 * updates.
 */
export class AcpConnection {
  readonly #connection: ClientConnection;
  readonly #events: ConnectionEvents;
  readonly #send: (line: string) => void;
  /** Liminal's unanswered requests, each with the agent's session id. */
  readonly #pendingRequests = new Map<unknown, unknown>();
  /** How many of the agent's requests wait for Liminal's answer; ids may repeat. */
  #open = 0;
  #input: ReadableStreamDefaultController<AnyMessage> | undefined;

  constructor(app: ClientApp, send: (line: string) => void, events: ConnectionEvents) {
    this.#events = events;
    this.#send = send;
    this.#connection = app.connect({
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#input = controller;
        },
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => this.#write(message) }),
    });
  }

  /** Reads a line; a returned promise resolves when the library has handled the line. Throws ProtocolBreach. */
  read(line: string): void | Promise<void> {
    return line.length > largeLine ? this.#readLarge(line) : this.#take(parseLine(line), line);
  }

  async #readLarge(line: string): Promise<void> {
    await this.#take(await parseLargeLine(line), line);
  }

  #take(message: unknown, line: string): void | Promise<void> {
    if (message === undefined) {
      if (line.trim() !== '') this.#events.onNoise(`${line}\n`);
      return undefined;
    }
    if (isRecord(message) && message['method'] === 'session/update' && !('id' in message)) {
      const params = isRecord(message['params']) ? message['params'] : {};
      return this.#events.onUpdate(params['sessionId'], params['update']);
    }
    return this.#pass(message, line);
  }

  /** Sends a request; resolves with the raw answer. Rejects with the library's RequestError. */
  request(method: string, params: unknown): Promise<unknown> {
    return this.#connection.agent.request<unknown>(method, params);
  }

  notify(method: string, params: unknown): void {
    // `notify` rejects only when the connection is closed. The closing is reported elsewhere.
    this.#connection.agent.notify(method, params).catch(() => undefined);
  }

  /** Returns the agent's session id in one of Liminal's open requests. */
  sessionOf(requestId: unknown): unknown {
    return this.#pendingRequests.get(requestId);
  }

  /** Rejects all open requests. */
  close(reason: Error): void {
    this.#connection.close(reason);
  }

  async #pass(message: unknown, line: string): Promise<void> {
    if (!this.#admits(message)) return this.#events.onNoise(`${line}\n`);
    const normalized =
      isRecord(message) && !('method' in message) ? withCompleteError(message) : message;
    this.#input?.enqueue(JsonRpcMessage.parse(normalized));
    await untilHandled();
  }

  /**
   * Returns whether the library gets the message. The library would print an error for a non-message, an unexpected
   * answer or a second answer.
   */
  #admits(message: unknown): boolean {
    if (!isRecord(message)) return false;
    const { id, method } = message;
    if (method === undefined) return this.#pendingRequests.delete(id);
    if ('id' in message) this.#open += 1;
    if (this.#open <= maxOpenRequests) return true;
    throw new ProtocolBreach(
      `The agent waits for answers to more than ${maxOpenRequests} requests.`,
    );
  }

  #write(message: AnyMessage): void {
    if ('method' in message) {
      const params = isRecord(message.params) ? message.params : {};
      if ('id' in message) this.#pendingRequests.set(message.id, params['sessionId']);
    } else if ('id' in message) this.#open -= 1;
    this.#send(JSON.stringify(message));
  }
}
