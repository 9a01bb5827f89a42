import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lines } from './lines.ts';
import { type Id, line, lost, type Message, noMessage, readMessage, tooLarge } from './json-rpc.ts';
import { splitLines } from './split-lines.ts';

export interface AcpRelayOptions {
  /**
   * Connects to the server; rejects if there is none and none can be started.
   * @param needed - Only after a server was lost: resolves when there is a message for the next server.
   */
  connect: (onLine: (line: string) => void, needed?: Promise<void>) => Promise<Lines>;
  /** The client's messages. */
  stdin: Readable;
  /** The messages to the client. */
  stdout: Writable;
}

interface Said {
  text: string;
  message: Message;
}

/** How many messages may wait for a server. */
const mostUnsent = 1000;
const serverLost =
  'The Liminal server was restarted or cannot be reached. The conversation so far is stored; send the message again.';
/** Methods that open a session. The relay stores their parameters to open the session again on the next server. */
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
const patienceAtEnd = 10_000;

/**
 * Relays an ACP client's messages to the server and back, one message per line. It reads only what it needs to survive
 * a lost server: each waiting request gets a response, and the next server opens the same sessions.
 */
export class AcpRelay {
  readonly #options: AcpRelayOptions;
  #server: Lines | undefined;
  /** Whether the server has opened all sessions of the server before. */
  #isReady = false;
  /** The client's messages that wait for a server. */
  #unsent: Said[] = [];
  #onUnsent = () => {};
  /** The client's requests without a response yet, by id; for those that open a session, with their parameters. */
  readonly #asked = new Map<Id, Record<string, unknown> | undefined>();
  /** Those of the requests that are not prompts. */
  readonly #brief = new Set<Id>();
  #onAnswer = () => {};
  /** Questions of the server that the client has not answered: the server's id by the client's id. */
  readonly #questions = new Map<Id, Id>();
  /** The parameters that opened each open session. */
  readonly #sessions = new Map<string, Record<string, unknown>>();
  #initialize: Record<string, unknown> | undefined;
  /** How many servers were connected so far. */
  #servers = 0;
  /** The relay's own requests: their callbacks by id. */
  readonly #own = new Map<Id, () => void>();
  #count = 0;
  #hasEnded = false;

  constructor(options: AcpRelayOptions) {
    this.#options = options;
  }

  /** Resolves when the client has left. Rejects if there is no server, or the server rejects the agent type. */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#options;
    const left = once(stdin, 'close').then(async () => this.#answerTheLast());
    // A closed output also means that the client has left.
    stdout.on('error', () => stdin.destroy());
    stdout.on('drain', () => this.#server?.resume());
    stdin.setEncoding('utf8').on(
      'data',
      splitLines((text) => this.#fromClient(text)),
    );
    try {
      await Promise.race([left, this.#serve()]);
    } finally {
      this.#hasEnded = true;
      await this.#server?.close();
    }
  }

  /** Serves the client by one server after another. Rejects when no server can be reached or started. */
  async #serve(): Promise<never> {
    const onLine = (text: string) => this.#fromServer(text);
    let server = await this.#options.connect(onLine);
    for (;;) {
      this.#server = server;
      this.#servers++;
      // The server may be lost before it has opened all sessions.
      this.#isReady = await Promise.race([this.#takeUp(), server.closed.then(() => false)]);
      if (this.#isReady) for (const said of this.#unsent.splice(0)) this.#send(said);
      this.#onAnswer();
      this.#options.stdin.resume();
      await server.closed;
      this.#lose();
      const needed = new Promise<void>((resolve) => (this.#onUnsent = resolve));
      if (this.#unsent.length > 0) this.#onUnsent();
      server = await this.#options.connect(onLine, needed);
    }
  }

  /** Waits for the last responses: a client that has closed its input may still read. Its turns continue without it. */
  async #answerTheLast(): Promise<void> {
    if (!this.#options.stdin.readableEnded) return;
    const late = delay(patienceAtEnd, true, { ref: false });
    while (this.#unsent.length > 0 || this.#brief.size > 0) {
      const answered = new Promise<false>((resolve) => (this.#onAnswer = () => resolve(false)));
      if (await Promise.race([late, answered])) return;
    }
  }

  #fromClient(said: string): void {
    const text = said.replace(byteOrderMark, '');
    if (text.trim() === '') return;
    const message = readMessage(text);
    if (message === undefined) return this.#write(noMessage(text));
    const refused = tooLarge(text, message);
    if (refused !== undefined) return this.#write(refused);
    const whole = isAnswer(message) ? this.#answerOf(message, text) : { text, message };
    if (whole === undefined) return;
    if (this.#isReady) return this.#send(whole);
    this.#unsent.push(whole);
    this.#onUnsent();
    if (this.#unsent.length >= mostUnsent) this.#options.stdin.pause();
  }

  /** Undefined if the question's server was lost: the next server may use the same id for another question. */
  #answerOf(message: Message, text: string): Said | undefined {
    const { id = null } = message;
    const asked = this.#questions.get(id);
    if (asked === undefined) return undefined;
    this.#questions.delete(id);
    return { message, text: asked === id ? text : line({ ...message, id: asked }) };
  }

  #send({ text, message }: Said): void {
    this.#note(message);
    const { stdin } = this.#options;
    if (this.#server?.write(text, () => stdin.resume()) === false) stdin.pause();
  }

  #note({ id, method, params }: Message): void {
    if (method === undefined) return;
    if (id !== undefined) this.#asked.set(id, openings.has(method) ? (params ?? {}) : undefined);
    if (id !== undefined && method !== 'session/prompt') this.#brief.add(id);
    if (method === 'initialize') this.#initialize = params;
    const sessionId = params?.['sessionId'];
    if (endings.has(method) && typeof sessionId === 'string') this.#sessions.delete(sessionId);
  }

  #fromServer(text: string): void {
    // Most messages are updates, which are only for the client.
    const isUpdate = text.startsWith('{"jsonrpc":"2.0","method":"session/update"');
    const message = isUpdate ? undefined : readMessage(text);
    const told = message === undefined ? text : this.#toldOf(message, text);
    if (told !== undefined) this.#write(told);
  }

  /** The message as the client gets it; undefined if it answers a request of the relay. */
  #toldOf(message: Message, text: string): string | undefined {
    const { id, method, params, result } = message;
    if (method === cancelRequest) {
      const requestId = this.#nameOf(params?.['requestId'] as Id);
      return line({ ...message, params: { ...params, requestId } });
    }
    if (id === undefined) return text;
    if (method !== undefined) {
      const name = this.#nameOf(id);
      this.#questions.set(name, id);
      return name === id ? text : line({ ...message, id: name });
    }
    const answered = this.#own.get(id);
    if (answered) {
      this.#own.delete(id);
      answered();
      return undefined;
    }
    const opening = this.#asked.get(id);
    this.#asked.delete(id);
    this.#brief.delete(id);
    this.#onAnswer();
    if (opening !== undefined && result !== undefined) this.#opened(opening, result);
    return text;
  }

  /**
   * Each server counts its questions from the beginning, and the client may still have open questions of the last
   * server.
   */
  #nameOf(id: Id): Id {
    return this.#servers === 1 ? id : `${this.#servers}-${id}`;
  }

  #opened(given: Record<string, unknown>, result: unknown): void {
    const begun = (result as Record<string, unknown> | null)?.['sessionId'];
    const sessionId = begun ?? given['sessionId'];
    if (typeof sessionId === 'string') this.#sessions.set(sessionId, { ...given, sessionId });
  }

  /** The server was lost: rejects the waiting requests, and cancels the open questions. */
  #lose(): void {
    this.#server = undefined;
    this.#isReady = false;
    this.#own.clear();
    if (this.#hasEnded) return;
    for (const id of this.#asked.keys()) this.#write(lost(id, serverLost));
    this.#asked.clear();
    this.#brief.clear();
    this.#onAnswer();
    for (const requestId of this.#questions.keys()) {
      this.#write(line({ method: cancelRequest, params: { requestId } }));
    }
    this.#questions.clear();
  }

  /** Opens the sessions of the last server on the next one; resolves to true. */
  async #takeUp(): Promise<true> {
    if (this.#initialize === undefined) return true;
    await this.#ask('initialize', this.#initialize);
    for (const params of this.#sessions.values()) await this.#ask('session/resume', params);
    return true;
  }

  async #ask(method: string, params: Record<string, unknown>): Promise<void> {
    const id = `liminal-${++this.#count}`;
    await new Promise<void>((resolve) => {
      this.#own.set(id, resolve);
      this.#server?.write(line({ id, method, params }));
    });
  }

  #write(text: string): void {
    const { stdout } = this.#options;
    // Write the messages of one tick together.
    if (stdout.writableCorked === 0) {
      stdout.cork();
      process.nextTick(() => stdout.uncork());
    }
    if (!stdout.write(`${text}\n`)) this.#server?.pause();
  }
}

const isAnswer = ({ method, result, error }: Message): boolean =>
  method === undefined && (result !== undefined || error !== undefined);
