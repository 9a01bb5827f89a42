/**
 * Handles outputs that fail: the reader ends before this process (as in `… | head -1`), or the disk of an output file
 * is full.
 */
import type { Writable } from 'node:stream';

/** The exit code with which a shell reports that SIGPIPE ended a program. */
export const closedPipeExit = 128 + 13;

/**
 * Prevents failing outputs from ending the process, because the process may still have turns to store.
 * @returns A function that returns the first error, except that of a closed pipe.
 */
export function outliveFailedOutputs(...outputs: Writable[]): () => Error | undefined {
  let failure: Error | undefined;
  for (const output of outputs) {
    output.on('error', (error) => {
      if (!isClosedPipe(error)) failure ??= error;
    });
  }
  return () => failure;
}

/** Aborted when nothing more can be written to the output, for example because the reader has ended. */
export function outputClosedSignal(output: Writable): AbortSignal {
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  return gone.signal;
}

const isClosedPipe = (error: Error): boolean => 'code' in error && error.code === 'EPIPE';
