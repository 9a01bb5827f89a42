import type { Writable } from 'node:stream';
import { cleanText } from './clean-text.ts';

/**
 * Lets everything that this process writes pass `cleanText`, whoever writes it: a command, the parser of the command
 * line, the log, an error's stack trace. Files and pipes are no exception: sooner or later somebody reads them in a
 * terminal. Programs are given JSON, in which hidden characters are escaped before they come here.
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
  // Node itself would write these past our outputs.
  process.on('uncaughtException', (error) => {
    console.error(error);
    process.exit(1);
  });
}

type Done = (error: Error | null | undefined) => void;

function isCallback(value: unknown): value is Done {
  return typeof value === 'function';
}
