import { ReplyError } from 'ioredis';
import { errors, StorageError } from '../../errors.ts';

/** Returns whether Redis itself refused a command, with a message that begins with `word`. */
export function isReply(error: unknown, word = ''): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return cause instanceof Error && cause instanceof ReplyError && cause.message.startsWith(word);
}

/** Whether Redis refused a command because another program has stored something else under the key. */
export function isForeignKey(error: unknown): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return isReply(cause) && /WRONGTYPE|The ID specified in XADD/.test(String(cause));
}

/** The advice for each reply of Redis, by the reply's first word or another part of it. */
const advice: [said: RegExp, advice: string][] = [
  [/^OOM/, 'Its memory is full: increase maxmemory.'],
  [/^READONLY/, 'It is a replica, which does not accept writes: connect to the primary.'],
  [/^(?:NOAUTH|WRONGPASS|ERR AUTH)/, 'Set the right user and password in the URL.'],
  [/^NOPERM/, 'Grant this user all commands on keys and channels that begin with redisPrefix.'],
  [/^MISCONF/, 'It cannot write to its disk: see its log, and free some space.'],
  [/^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/, 'Liminal will retry.'],
  [
    /WRONGTYPE|The ID specified/,
    'Another program has written to one of its keys: give each program a redisPrefix of its own.',
  ],
];

const reachAdvice = 'Check that Redis runs and can be reached at the configured URL.';
const certificateAdvice =
  'If its certificate is valid, set NODE_EXTRA_CA_CERTS to the file of the authority that signed it.';

/** Returns whether an error message reports a certificate without a trusted issuer. */
function isUntrustedCertificate(message: string): boolean {
  return (
    message.includes('self-signed certificate') ||
    (/unable to (?:verify|get)/.test(message) && message.includes(' certificate'))
  );
}

function adviceFor(message: string): string {
  if (isUntrustedCertificate(message)) return certificateAdvice;
  const reply = message.replace(/^ReplyError: /, '');
  return advice.find(([pattern]) => pattern.test(reply))?.[1] ?? reachAdvice;
}

/** @param trouble - Why a connection was last lost; used as the reason if `cause` is not a reply of Redis. */
export function unavailable(cause: unknown, trouble: Error | undefined): StorageError {
  const message = String(isReply(cause) ? cause : (trouble ?? cause));
  return errors.REDIS_UNAVAILABLE.failed(message, adviceFor(message), { cause });
}
