/** Writes fields that ACP lacks into `_meta`: under the key `liminal`, and under the keys that editors already read. */
import type { ErrorObject } from '@liminal/protocol';

type Meta = Record<string, unknown>;

export interface LiminalMeta {
  /** The id that the client uses for the subagent call to which a message or call belongs. */
  parent?: string | undefined;
  /** The id of the earlier message that this message replaces. */
  replaces?: string;
  /** True if the message was withdrawn: the client still shows its text, but the text does not count. */
  withdrawn?: true;
  /** The error that ended the message early. */
  error?: ErrorObject;
  /** Present if Liminal itself wrote the message. */
  notice?: 'info' | 'error';
  /** The error of the run. It is sent as a message because the agent did not report it. */
  turnError?: ErrorObject;
}

/**
 * Returns `_meta` with these fields; returns nothing if all fields are undefined. `_meta.claudeCode` has the same form
 * as in Claude Code's own adapter.
 */
export function metaOf({ parent, ...own }: LiminalMeta, besides: Meta = {}): { _meta?: Meta } {
  const known = Object.entries(own).filter(([, value]) => value !== undefined);
  const liminal = { ...Object.fromEntries(known), ...(parent && { parentToolCallId: parent }) };
  const meta = {
    ...besides,
    ...(Object.keys(liminal).length > 0 && { liminal }),
    ...(parent && { claudeCode: { parentToolUseId: parent } }),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** Returns `_meta.liminal` with these fields; returns nothing if all fields are undefined. */
export function ownMeta(fields: Meta): { _meta?: Meta } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.length === 0 ? {} : { _meta: { liminal: Object.fromEntries(known) } };
}

/** Returns the fields of an error that a client gets: all except the stack, which is useful only on the server. */
export function diagnosis({ code, message, details }: ErrorObject): ErrorObject {
  return { code, message, ...(details !== undefined && { details }) };
}
