import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lines } from './lines.ts';
import { type Id, line, lost, type Message, noMessage, readMessage, tooLarge } from './json-rpc.ts';
import { splitLines } from './split-lines.ts';

export interface AcpRelayOptions {
  /**
   * Connects to the server; rejects if there can be none.
   * @param needed - Only after a server has gone: resolves when there is something to say to the next one.
   */
  connect: (onLine: (line: string) => void, needed?: Promise<void>) => Promise<Lines>;
  /** What the client says. */
  stdin: Readable;
  /** What it is told. */
  stdout: Writable;
}

interface Said {
  text: string;
  message: Message;
}

/** How many messages may wait for the server. */
const mostUnsent = 1000;
const serverLost =
  'The Liminal server was restarted, or cannot be reached. What was said until then is kept; send the message again.';
/** What the protocol says of a session that the client has opened: with it, it is opened again. */
const openings: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
]);
const endings: ReadonlySet<string> = new Set(['session/close', 'session/delete']);
const cancelRequest = '$/cancel_request';
/** Some programs begin their output with one. */
const byteOrderMark = /^\uFEFF/;
/** How long a client that has said all gets answers, ms. */
const patienceAtEnd = 10_000;

/**
 * Passes an ACP client's messages to the server and back, a line each. It knows as much of them as it needs to outlive
 * the server: whoever waits for an answer gets one, and the next server is told which sessions are open.
 */
export class AcpRelay {
  readonly #options: AcpRelayOptions;
  #server: Lines | undefined;
  /** Whether the server knows all that the one before knew. */
  #isReady = false;
  /** What the client has said that no server has yet. */
  #unsent: Said[] = [];
  #onUnsent = () => {};
  /** Requests of the client that wait for their answers; of those that open a session, with what. */
  readonly #asked = new Map<Id, Record<string, unknown> | undefined>();
  /** Those of them that do not wait for a turn. */
  readonly #brief = new Set<Id>();
  #onAnswer = () => {};
  /** Questions of the server that the client has not answered: the server's id of each, by the client's. */
  readonly #questions = new Map<Id, Id>();
  /** How each open session was opened. */
  readonly #sessions = new Map<string, Record<string, unknown>>();
  #initialize: Record<string, unknown> | undefined;
  /** How many there were. */
  #servers = 0;
  /** Answers that are for us. */
  readonly #own = new Map<Id, () => void>();
  #count = 0;
  #hasEnded = false;

  constructor(options: AcpRelayOptions) {
    this.#options = options;
  }

  /** Resolves when the client has left. Rejects if there is no server, or it takes nobody of this agent type. */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#options;
    const left = once(stdin, 'close').then(async () => this.#answerTheLast());
    // A client that reads no more has left, too.
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

  /** One server after another. Rejects when there is none any more. */
  async #serve(): Promise<never> {
    const onLine = (text: string) => this.#fromServer(text);
    let server = await this.#options.connect(onLine);
    for (;;) {
      this.#server = server;
      this.#servers++;
      // A server may go before it knows all.
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

  /** A client that has closed its end may still read; the turns that it has begun go on without it. */
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

  /** Undefined if its question went with its server: the next one may ask another by the same id. */
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
    // Most are updates, and concern nobody but the client.
    const isUpdate = text.startsWith('{"jsonrpc":"2.0","method":"session/update"');
    const message = isUpdate ? undefined : readMessage(text);
    const told = message === undefined ? text : this.#toldOf(message, text);
    if (told !== undefined) this.#write(told);
  }

  /** What the client is told of a message; undefined if it is for us. */
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

  /** Each server counts its questions anew, and the client may not yet have closed those of the last. */
  #nameOf(id: Id): Id {
    return this.#servers === 1 ? id : `${this.#servers}-${id}`;
  }

  #opened(given: Record<string, unknown>, result: unknown): void {
    const begun = (result as Record<string, unknown> | null)?.['sessionId'];
    const sessionId = begun ?? given['sessionId'];
    if (typeof sessionId === 'string') this.#sessions.set(sessionId, { ...given, sessionId });
  }

  /** The server is gone: who waits for it is answered. */
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

  /** Tells the next server what the one before knew; resolves to true. */
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
    // What comes together leaves together.
    if (stdout.writableCorked === 0) {
      stdout.cork();
      process.nextTick(() => stdout.uncork());
    }
    if (!stdout.write(`${text}\n`)) this.#server?.pause();
  }
}

const isAnswer = ({ method, result, error }: Message): boolean =>
  method === undefined && (result !== undefined || error !== undefined);
