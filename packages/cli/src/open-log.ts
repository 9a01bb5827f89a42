import { createLogger } from '@liminal/server';
import { LostLines } from './terminal/lost-lines.ts';

/**
 * Opens the log of a serving process, which writes lines to standard error. If the disk is full, lines are lost, but
 * the process continues.
 */
export function openLog(level: string, secrets: ReadonlySet<string>) {
  const logger = createLogger(level, process.stderr, secrets);
  const lines = new LostLines(process.stderr, (lost) =>
    logger.error({ lost }, 'log lines were lost: the log file could not be written'),
  );
  return { logger, close: () => lines.close() };
}
