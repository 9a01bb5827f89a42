import { asError } from '@liminal/protocol';
import type { Logger } from '@liminal/runtime';

/**
 * Logs unhandled rejections instead of ending the process: a rejection that nobody awaits leaves nothing half done, and
 * is no reason to end everyone's sessions. Uncaught exceptions still end the process. Returns a function that stops it.
 */
export function outliveRejections(logger: Logger): () => void {
  const log = (reason: unknown): void => {
    logger.error(
      { error: asError(reason).stack },
      'something failed that nobody waited for; the server goes on',
    );
  };
  process.on('unhandledRejection', log);
  return () => void process.off('unhandledRejection', log);
}
