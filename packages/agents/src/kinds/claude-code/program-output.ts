import { Transform, type TransformCallback } from 'node:stream';
import { largeLine, shortenLargeLine } from '../../base/large-lines.ts';
import { DeltaJoiner } from './joined-deltas.ts';

/**
 * The most bytes of a line that is held back. A longer line is passed on unchanged, because holding it would take too
 * much memory.
 */
const longestHeld = 32 * 1024 * 1024;
const lineEnd = 10;

/**
 * Prepares Claude Code's output for the SDK, which parses each line on the main thread. Shortens large lines, and joins
 * deltas that arrive together to one delta.
 */
export class ProgramOutput extends Transform {
  /** The chunks of the unfinished line. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #busyUntil = 0;
  readonly #deltas = new DeltaJoiner();

  /**
   * The time (`performance.now()`) at which the last large line was passed on; infinite while a line is being
   * shortened.
   */
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

  /** Passes on whole lines, and holds the unfinished rest. */
  #pass(chunk: Buffer): void {
    const completeBytes = chunk.lastIndexOf(lineEnd) + 1;
    if (completeBytes > 0) {
      const lines = Buffer.concat([...this.#begun, chunk.subarray(0, completeBytes)]);
      // A chunk is passed on unchanged if it is a single line. The end of a line that was too long to hold is also
      // passed on unchanged, because that end may begin within a character.
      const isAsItIs =
        lines.indexOf(lineEnd) === lines.length - 1 || this.#begunBytes > longestHeld;
      this.push(
        isAsItIs ? lines : this.#deltas.join(lines.toString('utf8').split('\n')).join('\n'),
      );
      this.#begun = [];
      this.#begunBytes = 0;
    }
    if (completeBytes === chunk.length) return;
    this.#begun.push(chunk.subarray(completeBytes));
    this.#begunBytes += chunk.length - completeBytes;
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
