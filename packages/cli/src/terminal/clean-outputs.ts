import type { Writable } from 'node:stream';
import { cleanText } from './clean-text.ts';

/**
 * Passes everything that this process writes through `cleanText`: output of commands, of the parser of the command
 * line, of the log, and stack traces. This includes files and pipes, which somebody may read in a terminal later. JSON
 * for programs has its hidden characters escaped before it comes here.
 */
export function cleanOutputs(...outputs: Writable[]): void {
  for (const output of outputs) {
    const write = output.write.bind(output);
    output.write = (
      chunk: string | Uint8Array,
      encodingOrDone?: unknown,
      done: unknown = encodingOrDone,
    ): boolean => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return write(cleanText(text), isCallback(done) ? done : undefined);
    };
  }
  // Node itself would bypass our outputs when it prints these.
  process.on('uncaughtException', (error) => {
    console.error(error);
    process.exit(1);
  });
}

type Done = (error: Error | null | undefined) => void;

function isCallback(value: unknown): value is Done {
  return typeof value === 'function';
}
