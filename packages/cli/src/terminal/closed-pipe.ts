/** Our output may be read by a program that goes before we do: `… | head -1`. */
import type { Writable } from 'node:stream';

/** As a shell tells that SIGPIPE has ended a program. */
export const closedPipeExit = 128 + 13;

/** Without this, writing what nobody reads any more would end us with a stack trace. */
export function allowClosedPipes(...outputs: Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error) => {
      if (!isClosedPipe(error)) throw error;
    });
  }
}

/** Aborted when nobody reads the output any more. */
export function readerGone(output: Writable): AbortSignal {
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  return gone.signal;
}

const isClosedPipe = (error: Error): boolean => 'code' in error && error.code === 'EPIPE';
