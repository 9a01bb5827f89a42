/** Lines in, lines out, and nothing checked. */
import { once } from 'node:events';
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
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Says things on the agent's stdout, and waits while the client does not read. */
export class Voice {
  readonly #output: Writable;

  constructor(output: Writable) {
    this.#output = output;
  }

  async raw(text: string): Promise<void> {
    if (!this.#output.write(text)) await once(this.#output, 'drain');
  }

  line(message: unknown): Promise<void> {
    return this.raw(`${JSON.stringify(message)}\n`);
  }

  update(sessionId: unknown, update: unknown): Promise<void> {
    return this.line({
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId, update },
    });
  }

  /** Resolves when all that was said has left this process. */
  said(): Promise<void> {
    return new Promise((resolve) => this.#output.write('', () => resolve()));
  }
}
