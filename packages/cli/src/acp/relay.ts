import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Lines } from './lines.ts';
import { type Id, line, lost, type Message, parseError, readMessage } from './json-rpc.ts';
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
const openings: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume']);
const endings: ReadonlySet<string> = new Set(['session/close', 'session/delete']);

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
  /** Requests of the client that wait for their answers. */
  readonly #asked = new Map<Id, Message>();
  /** Questions of the server that the client has not answered. */
  readonly #questions = new Set<Id>();
  /** How each open session was opened. */
  readonly #sessions = new Map<string, Record<string, unknown>>();
  #initialize: Message | undefined;
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
    const left = once(stdin, 'close');
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
      this.#server?.close();
    }
  }

  /** One server after another. Rejects when there is none any more. */
  async #serve(): Promise<never> {
    const onLine = (text: string) => this.#fromServer(text);
    let server = await this.#options.connect(onLine);
    for (;;) {
      this.#server = server;
      await this.#takeUp();
      this.#isReady = true;
      for (const said of this.#unsent.splice(0)) this.#send(said);
      this.#options.stdin.resume();
      await server.closed;
      this.#lose();
      const needed = new Promise<void>((resolve) => (this.#onUnsent = resolve));
      server = await this.#options.connect(onLine, needed);
    }
  }

  #fromClient(text: string): void {
    if (text.trim() === '') return;
    const message = readMessage(text);
    if (message === undefined) return this.#write(parseError);
    if (this.#isReady) return this.#send({ text, message });
    this.#unsent.push({ text, message });
    this.#onUnsent();
    if (this.#unsent.length >= mostUnsent) this.#options.stdin.pause();
  }

  #send({ text, message }: Said): void {
    this.#note(message);
    const { stdin } = this.#options;
    if (this.#server?.write(text, () => stdin.resume()) === false) stdin.pause();
  }

  #note(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) {
      if (id !== undefined) this.#questions.delete(id);
      return;
    }
    if (id !== undefined) this.#asked.set(id, message);
    if (method === 'initialize') this.#initialize = message;
    const sessionId = params?.['sessionId'];
    if (endings.has(method) && typeof sessionId === 'string') this.#sessions.delete(sessionId);
  }

  #fromServer(text: string): void {
    // Most are updates, and concern nobody but the client.
    const isUpdate = text.startsWith('{"jsonrpc":"2.0","method":"session/update"');
    if (!isUpdate && this.#isOurs(readMessage(text))) return;
    this.#write(text);
  }

  #isOurs(message: Message | undefined): boolean {
    if (message?.id === undefined) return false;
    const { id, method, result } = message;
    if (method !== undefined) {
      this.#questions.add(id);
      return false;
    }
    const answered = this.#own.get(id);
    if (answered) {
      this.#own.delete(id);
      answered();
      return true;
    }
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked?.method !== undefined && openings.has(asked.method) && result !== undefined) {
      const given = asked.params ?? {};
      const begun = (result as Record<string, unknown> | null)?.['sessionId'];
      const sessionId = begun ?? given['sessionId'];
      if (typeof sessionId === 'string') this.#sessions.set(sessionId, { ...given, sessionId });
    }
    return false;
  }

  /** The server is gone: who waits for it is answered. */
  #lose(): void {
    this.#server = undefined;
    this.#isReady = false;
    for (const answered of this.#own.values()) answered();
    this.#own.clear();
    if (this.#hasEnded) return;
    for (const id of this.#asked.keys()) this.#write(lost(id, serverLost));
    this.#asked.clear();
    for (const requestId of this.#questions) {
      this.#write(line({ method: '$/cancel_request', params: { requestId } }));
    }
    this.#questions.clear();
  }

  /** Tells the next server what the one before knew. */
  async #takeUp(): Promise<void> {
    if (this.#initialize?.params === undefined) return;
    await this.#ask('initialize', this.#initialize.params);
    for (const params of this.#sessions.values()) await this.#ask('session/resume', params);
  }

  async #ask(method: string, params: Record<string, unknown>): Promise<void> {
    const id = `liminal-${++this.#count}`;
    await new Promise<void>((resolve) => {
      this.#own.set(id, resolve);
      this.#server?.write(line({ id, method, params }));
    });
  }

  #write(text: string): void {
    if (!this.#options.stdout.write(`${text}\n`)) this.#server?.pause();
  }
}
