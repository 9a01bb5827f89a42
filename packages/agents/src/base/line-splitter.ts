import { ProtocolBreach } from './protocol-breach.ts';

/** Most bytes of a line; a longer line cannot be a message. */
const maxLineBytes = 32 * 1024 * 1024;

/** Splits a byte stream into lines of text; holds at most one line, and copies it at most once. */
export class LineSplitter {
  readonly #limit: number;
  /** The chunks of the unfinished line. */
  #begun: Buffer[] = [];
  #begunBytes = 0;

  constructor(limit = maxLineBytes) {
    this.#limit = limit;
  }

  /** The lines that `chunk` completes, without their ends. Throws ProtocolBreach. */
  push(chunk: Buffer): string[] {
    const end = chunk.lastIndexOf(10);
    if (end === -1) {
      this.#begin(chunk);
      return [];
    }
    const completeLines = chunk.subarray(0, end);
    const text =
      this.#begunBytes === 0
        ? completeLines.toString('utf8')
        : Buffer.concat([...this.#begun, completeLines]).toString('utf8');
    this.#begun = [];
    this.#begunBytes = 0;
    if (end + 1 < chunk.length) this.#begin(chunk.subarray(end + 1));
    return text.split('\n');
  }

  /** The text after the last line end. */
  rest(): string {
    return Buffer.concat(this.#begun).toString('utf8');
  }

  #begin(chunk: Buffer): void {
    this.#begun.push(chunk);
    this.#begunBytes += chunk.length;
    if (this.#begunBytes <= this.#limit) return;
    const limit = Math.floor(this.#limit / 1024 / 1024);
    throw new ProtocolBreach(`The agent wrote a line of more than ${limit} MiB.`);
  }
}
