import { ReplyError } from 'ioredis';
import { StorageError } from '../../errors.ts';

/** Whether Redis itself refused a command, with this word if given. */
export function isReply(error: unknown, word = ''): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return cause instanceof Error && cause instanceof ReplyError && cause.message.startsWith(word);
}

/** Whether Redis refused a command for what another program has put under its key. */
export function isForeignKey(error: unknown): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return isReply(cause) && /WRONGTYPE|The ID specified in XADD/.test(String(cause));
}

/** By the first word of a reply, or a part of it: what to do. */
const advice: [said: RegExp, advice: string][] = [
  [/^OOM/, 'Its memory is full: allow it more (maxmemory).'],
  [/^READONLY/, 'It is a replica, which takes no writes: connect to the primary.'],
  [/^(?:NOAUTH|WRONGPASS|ERR AUTH)/, 'Set the right user and password in the URL.'],
  [/^NOPERM/, 'Grant this user all commands on keys and channels that begin with redisPrefix.'],
  [/^MISCONF/, 'It cannot write to its disk: see its log, and free some space.'],
  [/^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/, 'It will be tried again.'],
  [
    /WRONGTYPE|The ID specified/,
    'Another program has written to one of its keys: give each program a redisPrefix of its own.',
  ],
];

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

function adviceFor(said: string): string {
  if (isStranger(said)) return MISTRUST;
  const reply = said.replace(/^ReplyError: /, '');
  return advice.find(([pattern]) => pattern.test(reply))?.[1] ?? REACH;
}

/** @param trouble - Why a connection was last cut: the cause if Redis has not answered. */
export function unavailable(cause: unknown, trouble: Error | undefined): StorageError {
  const said = String(isReply(cause) ? cause : (trouble ?? cause));
  return new StorageError(
    'REDIS_UNAVAILABLE',
    `Redis does not do its work (${said}). ${adviceFor(said)}`,
    { cause },
  );
}
