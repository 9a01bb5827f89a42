import { z } from 'zod';

const Meta = z.looseObject({
  codex: z.looseObject({ threadStatus: z.looseObject({ type: z.string() }) }),
});

/**
 * Returns whether the `_meta` of a session update reports that the turn has failed; undefined if the `_meta` has no
 * such report. This field is not part of the protocol. The adapter of Codex ends a failed turn like any other turn,
 * with the error as the last message, and marks the failure only with this field.
 */
export function hasFailed(meta: unknown): boolean | undefined {
  const status = Meta.safeParse(meta).data?.codex.threadStatus.type;
  return status === undefined ? undefined : status === 'systemError';
}
