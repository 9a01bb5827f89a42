import { format } from 'node:util';
import type { Logger } from '@liminal/runtime';

/** The longest message, in characters: libraries may repeat all data that a client sent. */
const maxLength = 2_000;

/**
 * Logs the console output of libraries, so that the log has only JSON lines. `console.error` is logged as `warn`, since
 * libraries also use `console.error` for mistakes of clients; `console.warn` is logged as `info`. Returns a function
 * that restores the console.
 */
export function logConsole(logger: Logger): () => void {
  const { error, warn } = console;
  const to =
    (level: 'warn' | 'info') =>
    (...args: unknown[]): void =>
      logger[level]({}, format(...args).slice(0, maxLength));
  Object.assign(console, { error: to('warn'), warn: to('info') });
  return () => void Object.assign(console, { error, warn });
}
