/**
 * Describes for people the origin (the SDK's `SDKMessageOrigin`) of turns that people did not begin. Claude Code
 * reports the origin with the turn's result. It reports the origin earlier only if it also sends the message that began
 * the turn.
 */
import { z } from 'zod';

const text = z.string().optional().catch(undefined);

export const Origin = z.looseObject({
  kind: z.string(),
  subkind: text,
  fireReason: text,
  server: text,
  from: text,
  name: text,
  senderTaskId: text,
  body: text,
});
export type Origin = z.infer<typeof Origin>;

/** The text while the origin is unknown. */
export const byItself = 'Claude Code went on by itself.';

const words: Record<string, (origin: Origin) => string> = {
  channel: ({ server = '' }) => `A message came through the channel “${server}”.`,
  peer: (origin) =>
    origin.senderTaskId === undefined
      ? `Another session sent a message${by(origin)}.`
      : `A subagent sent a message${by(origin)}.`,
  coordinator: () => 'The session that coordinates this one sent a message.',
  observer: (origin) => `An observer sent a message${by(origin)}.`,
  'observer-activity': () => 'An observer of this session was active.',
  'auto-continuation': () => byItself,
  unclassified: () => 'A message came from an unknown sender.',
  'task-notification': () => 'A background task sent a report.',
  'scheduled-trigger': ({ fireReason: reason = 'scheduled' }) =>
    `A scheduled task was started${reason === 'scheduled' ? '' : ` (${reason})`}.`,
  'peer-send-message': () => 'Another of your sessions sent a message.',
  'projects-relay': () => 'Another session of the project forwarded a message.',
  'session-inbox': () => 'A message came into the inbox of this session.',
  'external-event': () => 'Something happened outside of this session.',
};

/** The kinds of origin whose message is only for the model. For other kinds of origin, people also see the message. */
const own = new Set(['auto-continuation', 'observer-activity', 'task-notification']);

/**
 * Returns the text about an origin; undefined if a person sent the message. @param message - The message that began the
 * turn, if known.
 */
export function describeOrigin(origin: Origin | undefined, message = ''): string | undefined {
  if (origin === undefined || origin.kind === 'human') return undefined;
  const kind = originKind(origin);
  const known = Object.hasOwn(words, kind) ? words[kind] : undefined;
  const why = known?.(origin) ?? `A message came from “${kind}”.`;
  const body = origin.body ?? (own.has(kind) ? '' : message);
  return body === '' ? why : `${why}\n\n${body}`;
}

export const originKind = ({ kind, subkind }: Origin): string => subkind ?? kind;

/** Returns whether the origin is only a report about a background task. */
export const isTaskReport = (origin: Origin | undefined): boolean =>
  origin?.kind === 'task-notification' && origin.subkind === undefined;

const by = ({ name, from }: Origin): string => {
  const sender = name ?? from;
  return sender === undefined ? '' : `: “${sender}”`;
};
