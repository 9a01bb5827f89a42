/**
 * Handles outputs that fail: the reader, as in `… | head -1`, ends before this process, or an output file is on a full
 * disk.
 */
import type { Writable } from 'node:stream';

/** The exit code with which a shell reports that SIGPIPE ended a program. */
export const closedPipeExit = 128 + 13;

/**
 * Keeps failing outputs from ending the process, which may have turns to store.
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

/** Aborted when nothing more can be written to the output, for example because its reader is gone. */
export function outputClosedSignal(output: Writable): AbortSignal {
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  return gone.signal;
}

const isClosedPipe = (error: Error): boolean => 'code' in error && error.code === 'EPIPE';
