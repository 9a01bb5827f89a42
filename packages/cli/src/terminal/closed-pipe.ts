/** Handles a program that reads our output and ends before us: `… | head -1`. */
import type { Writable } from 'node:stream';

/** The exit code with which a shell reports that SIGPIPE ended a program. */
export const closedPipeExit = 128 + 13;

/** Without this, writing to a closed pipe would end the process with a stack trace. */
export function allowClosedPipes(...outputs: Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error) => {
      if (!isClosedPipe(error)) throw error;
    });
  }
}

/** Aborted when the reader of the output is gone. */
export function readerGone(output: Writable): AbortSignal {
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  return gone.signal;
}

const isClosedPipe = (error: Error): boolean => 'code' in error && error.code === 'EPIPE';
