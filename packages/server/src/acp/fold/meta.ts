/** Fields that ACP lacks, in `_meta`: under `liminal`, and under the keys that editors already read. */
import type { ErrorObject } from '@liminal/protocol';

type Meta = Record<string, unknown>;

export interface LiminalMeta {
  /** The client's id of the subagent call that a message or call belongs to. */
  parent?: string | undefined;
  /** The id of the earlier message that this message replaces. */
  replaces?: string;
  /** The message no longer counts. */
  withdrawn?: true;
  /** Why the message ended early. */
  error?: ErrorObject;
  /** The message is Liminal's, not an agent's. */
  notice?: 'info' | 'error';
  /** The run's error, which its agent did not report. */
  turnError?: ErrorObject;
}

/**
 * Returns `_meta` with these fields, or no `_meta` if all are undefined. `_meta.claudeCode` is as in Claude Code's
 * own adapter.
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

/** Returns `_meta.liminal` with these fields, or no `_meta` if all are undefined. */
export function ownMeta(fields: Meta): { _meta?: Meta } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.length === 0 ? {} : { _meta: { liminal: Object.fromEntries(known) } };
}

/** An error for the client, without its stack, which is of use only on the server. */
export function diagnosis({ code, message, details }: ErrorObject): ErrorObject {
  return { code, message, ...(details !== undefined && { details }) };
}
