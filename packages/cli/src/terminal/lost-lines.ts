import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** The delay between attempts to report lost lines, in ms. */
const tryMs = 1_000;
const newline = 10;

/**
 * If an output is a file, drops lines that cannot be written, so that a full disk does not stop the server that writes
 * its log to this file. Dropped lines are counted, and the count is reported as soon as a report can be written.
 */
export class LostLines {
  readonly #fd: number;
  readonly #report: (lost: number) => void;
  #lost = 0;
  /** Whether the file ends with the first part of a lost line. */
  #endsInLine = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param output - After this call, only this class may write to the output. Must be a file: a pipe or a terminal that
   * has failed once never works again.
   * @param report - Writes the report, one line, to the output.
   */
  constructor(output: Writable & { fd: number }, report: (lost: number) => void) {
    this.#fd = output.fd;
    this.#report = report;
    if (!fstatSync(output.fd).isFile()) return;
    output._write = (chunk: Uint8Array, _encoding, done) => {
      this.#write(chunk);
      done();
    };
  }

  #write(chunk: Uint8Array): void {
    const start = Buffer.alloc(this.#endsInLine ? 1 : 0, newline);
    const bytes = Buffer.concat([start, chunk]);
    let written = 0;
    try {
      // A nearly full file system may accept only a part of the bytes.
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
      this.#endsInLine = false;
    } catch {
      if (written > 0) this.#endsInLine = bytes[written - 1] !== newline;
      this.#lost += Math.max(1, count(bytes.subarray(Math.max(written, start.length))));
      this.#timer ??= setInterval(() => this.#tryReport(), tryMs).unref();
    }
  }

  #tryReport(): void {
    const lost = this.#lost;
    this.#lost = 0;
    this.#report(lost);
    // A report that cannot be written is not counted as a lost line.
    if (this.#lost > 0) this.#lost = lost;
    else this.close();
  }

  /** Stops reporting. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function count(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === newline) lines += 1;
  return lines;
}
