import type { Logger } from '@liminal/runtime';

/**
 * Logs unhandled rejections instead of ending the process: a rejection that nobody awaits leaves nothing half done, and
 * is no reason to end everyone's sessions. Uncaught exceptions still end the process. Returns a function that stops it.
 */
export function outliveRejections(logger: Logger): () => void {
  const log = (reason: unknown): void => {
    const error = reason instanceof Error ? reason.stack : String(reason);
    logger.error({ error }, 'something failed that nobody waited for; the server goes on');
  };
  process.on('unhandledRejection', log);
  return () => void process.off('unhandledRejection', log);
}
