import { ReplyError } from 'ioredis';
import { StorageError } from '../../errors.ts';

/** Whether Redis itself refused a command, with this word if given. */
export function isReply(error: unknown, word = ''): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return cause instanceof Error && cause instanceof ReplyError && cause.message.startsWith(word);
}

const REACH = 'See that it runs and can be reached at the configured URL.';
const MISTRUST =
  'Where its certificate is right, name the file of the authority that has signed it in NODE_EXTRA_CA_CERTS.';

/** Whether an error message is about a certificate without a trusted issuer. */
function isStranger(said: string): boolean {
  return (
    said.includes('self-signed certificate') ||
    (/unable to (?:verify|get)/.test(said) && said.includes(' certificate'))
  );
}

/** @param trouble - Why a connection was last cut: the cause if Redis has not answered. */
export function unavailable(cause: unknown, trouble: Error | undefined): StorageError {
  const said = String(isReply(cause) ? cause : (trouble ?? cause));
  return new StorageError(
    'REDIS_UNAVAILABLE',
    `Redis does not do its work (${said}). ${isStranger(said) ? MISTRUST : REACH}`,
    { cause },
  );
}
