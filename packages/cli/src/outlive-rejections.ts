import type { Logger } from '@liminal/runtime';

/**
 * A promise that fails and that nobody waits for leaves nothing half done in anybody's way: it is a mistake to be
 * logged, and no reason to end the sessions of everyone. Gives a way to stop. What is thrown and not caught still ends
 * the process.
 */
export function outliveRejections(logger: Logger): () => void {
  const log = (reason: unknown): void => {
    const error = reason instanceof Error ? reason.stack : String(reason);
    logger.error({ error }, 'something failed that nobody waited for; the server goes on');
  };
  process.on('unhandledRejection', log);
  return () => void process.off('unhandledRejection', log);
}
