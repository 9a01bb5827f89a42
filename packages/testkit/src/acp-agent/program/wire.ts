/** Lines in, lines out, and nothing checked. */
import type { Readable, Writable } from 'node:stream';

/** What came on one line, if it is JSON-RPC at all. */
export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** Not `readline`, which also ends a line at U+2028: JSON does not. */
export async function* readLines(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8');
  let rest = '';
  for await (const chunk of input) {
    const [first = '', ...others] = String(chunk).split('\n');
    const last = others.pop();
    rest += first;
    if (last === undefined) continue;
    yield rest;
    yield* others;
    rest = last;
  }
  if (rest !== '') yield rest;
}

/** Resolves never. */
export const never = new Promise<never>(() => undefined);

/** What the agent says on its stdout. Everything waits while the client does not read. */
export class Voice {
  readonly #output: Writable;
  #silent = false;

  constructor(output: Writable) {
    this.#output = output;
    // A client that has gone is no reason to end: an agent that outlives it is what tests need.
    output.on('error', () => undefined);
  }

  /** Says nothing any more, and waits for ever with everything that it is told to say. */
  fallSilent(): void {
    this.#silent = true;
  }

  get silent(): boolean {
    return this.#silent;
  }

  async raw(text: string | Uint8Array): Promise<void> {
    if (this.#silent) await never;
    if (!this.#output.write(text))
      await new Promise<void>((resolve) => this.#output.once('drain', () => resolve()));
  }

  line(message: unknown): Promise<void> {
    return this.raw(`${JSON.stringify(message)}\n`);
  }

  update(sessionId: unknown, update: unknown): Promise<void> {
    return this.line({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } });
  }

  /** Resolves when all that was said has left this process. */
  said(): Promise<void> {
    return new Promise((resolve) => this.#output.write('', () => resolve()));
  }
}
