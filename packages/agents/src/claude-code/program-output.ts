import { Transform, type TransformCallback } from 'node:stream';
import { largeLine, shortenLargeLine } from '../base/large-lines.ts';
import { DeltaJoiner } from './joined-deltas.ts';

/** Bytes; a line that is longer is passed on as it is, since nobody can hold them all. */
const longestHeld = 32 * 1024 * 1024;
const lineEnd = 10;

/**
 * What Claude Code prints, made quick for the SDK, which parses it line by line on the one thread that everybody shares:
 * large lines come shortened, and deltas that have come together are one.
 */
export class ProgramOutput extends Transform {
  /** The beginning of a line whose end has not come. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #busyUntil = 0;
  readonly #deltas = new DeltaJoiner();

  /** When the last large line was passed on, on the clock of `performance.now()`; infinite while one is not. */
  get busyUntil(): number {
    return this.#busyUntil;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const end = chunk.indexOf(lineEnd);
    const bytes = this.#begunBytes + end;
    if (end === -1 || bytes <= largeLine || bytes > longestHeld) {
      this.#pass(chunk);
      done();
      return;
    }
    const line = Buffer.concat([...this.#begun, chunk.subarray(0, end)]).toString('utf8');
    this.#begun = [];
    this.#begunBytes = 0;
    void this.#shorten(line, chunk.subarray(end + 1), done);
  }

  override _flush(done: TransformCallback): void {
    this.#release();
    done();
  }

  async #shorten(line: string, rest: Buffer, done: TransformCallback): Promise<void> {
    this.#busyUntil = Infinity;
    const short = await shortenLargeLine(line).catch(() => line);
    this.push(`${short}\n`);
    this.#busyUntil = performance.now();
    this.#pass(rest);
    done();
  }

  /** Lines that are whole; the rest waits for its end. */
  #pass(chunk: Buffer): void {
    const whole = chunk.lastIndexOf(lineEnd) + 1;
    if (whole > 0) {
      const lines = Buffer.concat([...this.#begun, chunk.subarray(0, whole)]);
      // One line, or the end of one whose beginning could not be held: it may begin within a character.
      const isAsItIs =
        lines.indexOf(lineEnd) === lines.length - 1 || this.#begunBytes > longestHeld;
      this.push(
        isAsItIs ? lines : this.#deltas.join(lines.toString('utf8').split('\n')).join('\n'),
      );
      this.#begun = [];
      this.#begunBytes = 0;
    }
    if (whole === chunk.length) return;
    this.#begun.push(chunk.subarray(whole));
    this.#begunBytes += chunk.length - whole;
    if (this.#begunBytes > longestHeld) this.#letGo();
  }

  #release(): void {
    this.#letGo();
    this.#begunBytes = 0;
  }

  #letGo(): void {
    for (const part of this.#begun) this.push(part);
    this.#begun = [];
  }
}
