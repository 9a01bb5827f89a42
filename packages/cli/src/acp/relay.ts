import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { LineSplitter } from '@liminal/protocol/line-splitter';
import type { LineConnection } from './line-connection.ts';
import {
  type JsonRpcId,
  toLine,
  serverLostResponse,
  type JsonRpcMessage,
  invalidMessageResponse,
  readMessage,
  tooLargeResponse,
} from './json-rpc.ts';

export interface AcpRelayOptions {
  /**
   * Connects to the server. Rejects if no server runs and none can be started.
   * @param needed - Passed only after a server was lost. Resolves when the client has sent a message for the next
   * server.
   */
  connect: (onLine: (line: string) => void, needed?: Promise<void>) => Promise<LineConnection>;
  /** The client's messages. */
  stdin: Readable;
  /** The messages to the client. */
  stdout: Writable;
}

interface ParsedLine {
  text: string;
  message: JsonRpcMessage;
}

/** How many messages may wait for a server. */
const maxUnsent = 1000;
const serverLost =
  'The Liminal server was restarted or cannot be reached. The conversation so far is stored; send the message again.';
/**
 * Methods that open a session. The relay stores the parameters of such a request, so that it can open the session again
 * on the next server.
 */
const openings: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
]);
const endings: ReadonlySet<string> = new Set(['session/close', 'session/delete']);
const cancelRequest = '$/cancel_request';
/** Some programs begin their output with a byte order mark. */
const byteOrderMark = /^\uFEFF/;
/** How long a client that has closed its input still gets responses, in ms. */
const lastResponsesMs = 10_000;

/**
 * Relays an ACP client's messages to the server and back, one message per line. When a server is lost, each waiting
 * request gets a response, and the relay opens the same sessions on the next server. The relay parses only the fields
 * that this needs.
 */
export class AcpRelay {
  readonly #options: AcpRelayOptions;
  #server: LineConnection | undefined;
  /** Whether the present server has opened all sessions of the previous server. */
  #isReady = false;
  /** The client's messages that wait for a server. */
  #unsent: ParsedLine[] = [];
  #onUnsent = () => {};
  /**
   * The client's requests that have no response yet, by id. For a request that opens a session, the entry contains the
   * request's parameters.
   */
  readonly #pending = new Map<JsonRpcId, Record<string, unknown> | undefined>();
  /** The ids of the pending requests that are not prompts. */
  readonly #pendingNonPrompts = new Set<JsonRpcId>();
  #onAnswer = () => {};
  /**
   * Questions of the server that the client has not answered. The key is the id that the client uses; the value is the
   * id that the server uses.
   */
  readonly #questions = new Map<JsonRpcId, JsonRpcId>();
  /** For each open session, the parameters of the request that opened the session. */
  readonly #sessions = new Map<string, Record<string, unknown>>();
  #initialize: Record<string, unknown> | undefined;
  /** How many servers were connected so far. */
  #servers = 0;
  /** The callbacks of the relay's own requests, by request id. */
  readonly #ownRequests = new Map<JsonRpcId, () => void>();
  #ownRequestCount = 0;
  #hasEnded = false;

  constructor(options: AcpRelayOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the client has left. Rejects if no server can be reached, or if the server rejects the agent type.
   */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#options;
    const left = once(stdin, 'close').then(async () => this.#awaitLastResponses());
    // If the client no longer reads this process's output, the client has left.
    stdout.on('error', () => stdin.destroy());
    stdout.on('drain', () => this.#server?.resume());
    const lines = new LineSplitter();
    stdin.setEncoding('utf8').on('data', (text: string) => {
      for (const line of lines.push(text)) this.#fromClient(line);
    });
    try {
      await Promise.race([left, this.#serve()]);
    } finally {
      this.#hasEnded = true;
      await this.#server?.close();
    }
  }

  /**
   * Relays messages to one server until that server is lost, then to the next server. Rejects when no server can be
   * reached or started.
   */
  async #serve(): Promise<never> {
    const onLine = (text: string) => this.#fromServer(text);
    let server = await this.#options.connect(onLine);
    for (;;) {
      this.#server = server;
      this.#servers++;
      // The new server may also be lost before it has opened all sessions.
      this.#isReady = await Promise.race([this.#resumeSessions(), server.closed.then(() => false)]);
      if (this.#isReady) for (const unsent of this.#unsent.splice(0)) this.#send(unsent);
      this.#onAnswer();
      this.#options.stdin.resume();
      await server.closed;
      this.#onServerLost();
      const needed = new Promise<void>((resolve) => (this.#onUnsent = resolve));
      if (this.#unsent.length > 0) this.#onUnsent();
      server = await this.#options.connect(onLine, needed);
    }
  }

  /**
   * Waits for the last responses: a client that has closed its input may still read. The client's turns continue after
   * the client has left.
   */
  async #awaitLastResponses(): Promise<void> {
    if (!this.#options.stdin.readableEnded) return;
    const late = delay(lastResponsesMs, true, { ref: false });
    while (this.#unsent.length > 0 || this.#pendingNonPrompts.size > 0) {
      const answered = new Promise<false>((resolve) => (this.#onAnswer = () => resolve(false)));
      if (await Promise.race([late, answered])) return;
    }
  }

  #fromClient(input: string): void {
    const text = input.replace(byteOrderMark, '');
    if (text.trim() === '') return;
    const message = readMessage(text);
    if (message === undefined) return this.#write(invalidMessageResponse(text));
    const refused = tooLargeResponse(text, message);
    if (refused !== undefined) return this.#write(refused);
    const parsed = isResponse(message) ? this.#responseForServer(message, text) : { text, message };
    if (parsed === undefined) return;
    if (this.#isReady) return this.#send(parsed);
    this.#unsent.push(parsed);
    this.#onUnsent();
    if (this.#unsent.length >= maxUnsent) this.#options.stdin.pause();
  }

  /**
   * Returns the id that the server uses for a question. Returns undefined if the server that asked was lost: the next
   * server may use the same id for another question.
   */
  #responseForServer(message: JsonRpcMessage, text: string): ParsedLine | undefined {
    const { id = null } = message;
    const serverId = this.#questions.get(id);
    if (serverId === undefined) return undefined;
    this.#questions.delete(id);
    return { message, text: serverId === id ? text : toLine({ ...message, id: serverId }) };
  }

  #send({ text, message }: ParsedLine): void {
    this.#track(message);
    const { stdin } = this.#options;
    if (this.#server?.write(text, () => stdin.resume()) === false) stdin.pause();
  }

  #track({ id, method, params }: JsonRpcMessage): void {
    if (method === undefined) return;
    if (id !== undefined) this.#pending.set(id, openings.has(method) ? (params ?? {}) : undefined);
    if (id !== undefined && method !== 'session/prompt') this.#pendingNonPrompts.add(id);
    if (method === 'initialize') this.#initialize = params;
    const sessionId = params?.['sessionId'];
    if (endings.has(method) && typeof sessionId === 'string') this.#sessions.delete(sessionId);
  }

  #fromServer(text: string): void {
    // Pass on updates at once: most messages are updates, and the relay itself does not need them.
    const isUpdate = text.startsWith('{"jsonrpc":"2.0","method":"session/update"');
    const message = isUpdate ? undefined : readMessage(text);
    const output = message === undefined ? text : this.#lineForClient(message, text);
    if (output !== undefined) this.#write(output);
  }

  /**
   * Returns the message as the client gets it; undefined if the server's message answers a request of the relay itself.
   */
  #lineForClient(message: JsonRpcMessage, text: string): string | undefined {
    const { id, method, params, result } = message;
    if (method === cancelRequest) {
      const requestId = this.#clientIdOf(params?.['requestId'] as JsonRpcId);
      return toLine({ ...message, params: { ...params, requestId } });
    }
    if (id === undefined) return text;
    if (method !== undefined) {
      const name = this.#clientIdOf(id);
      this.#questions.set(name, id);
      return name === id ? text : toLine({ ...message, id: name });
    }
    const onResponse = this.#ownRequests.get(id);
    if (onResponse) {
      this.#ownRequests.delete(id);
      onResponse();
      return undefined;
    }
    const opening = this.#pending.get(id);
    this.#pending.delete(id);
    this.#pendingNonPrompts.delete(id);
    this.#onAnswer();
    if (opening !== undefined && result !== undefined) this.#recordSession(opening, result);
    return text;
  }

  /**
   * Give the question a new id: each server numbers its questions from the beginning, and the client may still have
   * open questions of the last server.
   */
  #clientIdOf(id: JsonRpcId): JsonRpcId {
    return this.#servers === 1 ? id : `${this.#servers}-${id}`;
  }

  #recordSession(given: Record<string, unknown>, result: unknown): void {
    const begun = (result as Record<string, unknown> | null)?.['sessionId'];
    const sessionId = begun ?? given['sessionId'];
    if (typeof sessionId === 'string') this.#sessions.set(sessionId, { ...given, sessionId });
  }

  /** Called when the server was lost: rejects the waiting requests, and cancels the open questions. */
  #onServerLost(): void {
    this.#server = undefined;
    this.#isReady = false;
    this.#ownRequests.clear();
    if (this.#hasEnded) return;
    for (const id of this.#pending.keys()) this.#write(serverLostResponse(id, serverLost));
    this.#pending.clear();
    this.#pendingNonPrompts.clear();
    this.#onAnswer();
    for (const requestId of this.#questions.keys()) {
      this.#write(toLine({ method: cancelRequest, params: { requestId } }));
    }
    this.#questions.clear();
  }

  /** Opens the sessions of the previous server on the present server. Resolves with true. */
  async #resumeSessions(): Promise<true> {
    if (this.#initialize === undefined) return true;
    await this.#request('initialize', this.#initialize);
    for (const params of this.#sessions.values()) await this.#request('session/resume', params);
    return true;
  }

  async #request(method: string, params: Record<string, unknown>): Promise<void> {
    const id = `liminal-${++this.#ownRequestCount}`;
    await new Promise<void>((resolve) => {
      this.#ownRequests.set(id, resolve);
      this.#server?.write(toLine({ id, method, params }));
    });
  }

  #write(text: string): void {
    const { stdout } = this.#options;
    // Collect the messages of one tick and write them together.
    if (stdout.writableCorked === 0) {
      stdout.cork();
      process.nextTick(() => stdout.uncork());
    }
    if (!stdout.write(`${text}\n`)) this.#server?.pause();
  }
}

const isResponse = ({ method, result, error }: JsonRpcMessage): boolean =>
  method === undefined && (result !== undefined || error !== undefined);
