import type { Writable } from 'node:stream';
import { cleanText } from './clean-text.ts';

/**
 * Passes all output of this process through `cleanText`: the output of commands, of the command-line parser and of the
 * log, and stack traces. Output to files and pipes is also cleaned, because somebody may later read this output in a
 * terminal. The hidden characters of JSON output were already escaped.
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
  // Print uncaught exceptions here, because Node's own output of them would not pass through `cleanText`.
  process.on('uncaughtException', (error) => {
    console.error(error);
    process.exit(1);
  });
}

type Done = (error: Error | null | undefined) => void;

function isCallback(value: unknown): value is Done {
  return typeof value === 'function';
}
