/**
 * Who or what set off a turn of Claude Code's besides people, in words for them: the SDK's `SDKMessageOrigin`. It comes
 * with the turn's result, and earlier only with a message that the program gives out.
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

/** As long as nothing else is known. */
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
  unclassified: () => 'A message came, and Claude Code does not know from where.',
  'task-notification': () => 'There is news of work in the background.',
  'scheduled-trigger': ({ fireReason: reason = 'scheduled' }) =>
    `A scheduled task was started${reason === 'scheduled' ? '' : ` (${reason})`}.`,
  'peer-send-message': () => 'Another of your sessions sent a message.',
  'projects-relay': () => 'A message was passed on from another session of the project.',
  'session-inbox': () => 'A message came into the inbox of this session.',
  'external-event': () => 'Something happened outside of this session.',
};

/** What Claude Code says to its model by itself: all others have something to say to people, too. */
const own = new Set(['auto-continuation', 'observer-activity', 'task-notification']);

/** Undefined if it comes from people. `said` is the message itself, if it is known. */
export function whyOf(origin: Origin | undefined, said = ''): string | undefined {
  if (origin === undefined || origin.kind === 'human') return undefined;
  const kind = kindOf(origin);
  const known = Object.hasOwn(words, kind) ? words[kind] : undefined;
  const why = known?.(origin) ?? `This comes from “${kind}”.`;
  const body = origin.body ?? (own.has(kind) ? '' : said);
  return body === '' ? why : `${why}\n\n${body}`;
}

export const kindOf = ({ kind, subkind }: Origin): string => subkind ?? kind;

/** Whether it is only the news of a task in the background. */
export const isTaskNews = (origin: Origin | undefined): boolean =>
  origin?.kind === 'task-notification' && origin.subkind === undefined;

const by = ({ name, from }: Origin): string => {
  const sender = name ?? from;
  return sender === undefined ? '' : `: “${sender}”`;
};
