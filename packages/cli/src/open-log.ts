import { createLogger } from '@liminal/server';
import { LostLines } from './terminal/lost-lines.ts';

/** The log of a process that serves: lines on standard error. A full disk costs lines, never the process. */
export function openLog(level: string, secrets: ReadonlySet<string>) {
  const logger = createLogger(level, process.stderr, secrets);
  const lines = new LostLines(process.stderr, (lost) =>
    logger.error({ lost }, 'log lines are lost: the file of the log could not be written'),
  );
  return { logger, close: () => lines.close() };
}
