import { asError } from '@liminal/protocol';
import type { Logger } from '@liminal/runtime';

/**
 * Logs unhandled rejections instead of ending the process: a rejection that no code awaits must not end all sessions,
 * and leaves no work half done. Uncaught exceptions still end the process. Returns a function that removes the handler.
 */
export function outliveRejections(logger: Logger): () => void {
  const log = (reason: unknown): void => {
    logger.error(
      { error: asError(reason).stack },
      'unhandled promise rejection; the server keeps running',
    );
  };
  process.on('unhandledRejection', log);
  return () => void process.off('unhandledRejection', log);
}
