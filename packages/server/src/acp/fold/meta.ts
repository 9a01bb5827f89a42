/** What ACP has no field for, in `_meta`: under `liminal`, and where editors already look for it. */
import type { ErrorObject } from '@liminal/protocol';

type Meta = Record<string, unknown>;

export interface About {
  /** The call of the subagent that a message or call belongs to, as the client knows it. */
  parent?: string | undefined;
  /** The message that this one stands for, which the client was told of before. */
  replaces?: string;
  /** The message does not count any more. */
  withdrawn?: true;
  /** Why the message broke off. */
  error?: ErrorObject;
  /** The message is Liminal's, and no agent's. */
  notice?: 'info' | 'error';
  /** The run's error, which its agent did not say. */
  turnError?: ErrorObject;
}

/** As fields of an update: none if there is nothing to say. `_meta.claudeCode` is as in Claude Code's own adapter. */
export function metaOf({ parent, ...own }: About, besides: Meta = {}): { _meta?: Meta } {
  const known = Object.entries(own).filter(([, value]) => value !== undefined);
  const liminal = { ...Object.fromEntries(known), ...(parent && { parentToolCallId: parent }) };
  const meta = {
    ...besides,
    ...(Object.keys(liminal).length > 0 && { liminal }),
    ...(parent && { claudeCode: { parentToolUseId: parent } }),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** Fields of ours alone; none if none has a value. */
export function ownMeta(fields: Meta): { _meta?: Meta } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.length === 0 ? {} : { _meta: { liminal: Object.fromEntries(known) } };
}

/** An error for the client's programs. Its stack is ours, and leads nowhere there. */
export function diagnosis({ code, message, details }: ErrorObject): ErrorObject {
  return { code, message, ...(details !== undefined && { details }) };
}
