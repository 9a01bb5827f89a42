/** Reads and writes lines without checking them. */
import type { Readable, Writable } from 'node:stream';

/** The message on one line, if the line is JSON-RPC. */
export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/**
 * Yields the lines of an input. The function does not use `readline`, which also ends a line at U+2028, a valid
 * character in JSON.
 */
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

/** Never resolves. */
export const never = new Promise<never>(() => undefined);

/** The agent's stdout. A write waits while the client does not read. */
export class AgentOutput {
  readonly #output: Writable;
  #silent = false;

  constructor(output: Writable) {
    this.#output = output;
    // Ignore write errors. When its client has ended, the agent must continue, because tests need an agent that
    // outlives its client.
    output.on('error', () => undefined);
  }

  /** Stops all output. Writes after this call never complete. */
  stopWriting(): void {
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

  /** Resolves when all writes have left this process. */
  flushed(): Promise<void> {
    return new Promise((resolve) => this.#output.write('', () => resolve()));
  }
}
