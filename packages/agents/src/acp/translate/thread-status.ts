import { z } from 'zod';

const Meta = z.looseObject({
  codex: z.looseObject({ threadStatus: z.looseObject({ type: z.string() }) }),
});

/**
 * Whether an agent says by the `_meta` of a session update that its turn has failed; undefined if it says nothing about
 * that. Not part of the protocol: the adapter of Codex ends a failed turn like any other, with the error as the last
 * message, and says only so that it is one.
 */
export function hasFailed(meta: unknown): boolean | undefined {
  const status = Meta.safeParse(meta).data?.codex.threadStatus.type;
  return status === undefined ? undefined : status === 'systemError';
}
