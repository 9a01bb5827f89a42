import { setImmediate as untilHandled } from 'node:timers/promises';
import type { AnyMessage, ClientApp, ClientConnection } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { largeLine, parseLargeLine } from '../base/large-lines.ts';
import { parseLine } from '../base/parse-line.ts';
import { ProtocolBreach } from '../base/protocol-breach.ts';
import { isRecord } from './translate/fields.ts';

/** What the agent says in a `session/update`, as it came. */
export type OnUpdate = (sessionId: unknown, update: unknown) => void;

interface ConnectionEvents {
  onUpdate: OnUpdate;
  /** A line that is no message. */
  onNoise: (line: string) => void;
}

/** Requests of an agent that wait for an answer at the same time; more is a flood. */
const maxOpenRequests = 1_000;

/** The library checks messages itself. */
const Message = z.custom<AnyMessage>(isRecord);

/**
 * JSON-RPC over lines. Each line is parsed once. Session updates, of which there are many, go straight to whom they
 * concern, with all that the library does not know and would drop; everything else goes through the library, in order
 * with the updates.
 */
export class AcpConnection {
  readonly #connection: ClientConnection;
  readonly #events: ConnectionEvents;
  readonly #send: (line: string) => void;
  /** Our requests that wait for an answer, and the agent's session each is about. */
  readonly #asked = new Map<unknown, unknown>();
  /** How many of the agent's requests wait for ours, whatever ids it gave them. */
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

  /** Takes a line; what it gives resolves when the library has dealt with it. Throws ProtocolBreach. */
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

  /** Sends a request; gives the answer as it came. Rejects with the library's RequestError. */
  request(method: string, params: unknown): Promise<unknown> {
    return this.#connection.agent.request<unknown>(method, params);
  }

  notify(method: string, params: unknown): void {
    // Only a closed connection rejects it, and that is told elsewhere.
    this.#connection.agent.notify(method, params).catch(() => undefined);
  }

  /** The agent's session that one of our open requests is about. */
  sessionOf(requestId: unknown): unknown {
    return this.#asked.get(requestId);
  }

  /** Rejects what waits for an answer. */
  close(reason: Error): void {
    this.#connection.close(reason);
  }

  async #pass(message: unknown, line: string): Promise<void> {
    if (!this.#admits(message)) return this.#events.onNoise(`${line}\n`);
    this.#input?.enqueue(Message.parse(message));
    await untilHandled();
  }

  /** Keeps from the library what it would complain of aloud: no messages, answers to nothing, second answers. */
  #admits(message: unknown): boolean {
    if (!isRecord(message)) return false;
    const { id, method } = message;
    if (method === undefined) return this.#asked.delete(id);
    if ('id' in message) this.#open += 1;
    if (this.#open <= maxOpenRequests) return true;
    throw new ProtocolBreach(`It waits for answers to more than ${maxOpenRequests} requests.`);
  }

  #write(message: AnyMessage): void {
    if ('method' in message) {
      const params = isRecord(message.params) ? message.params : {};
      if ('id' in message) this.#asked.set(message.id, params['sessionId']);
    } else if ('id' in message) this.#open -= 1;
    this.#send(JSON.stringify(message));
  }
}
