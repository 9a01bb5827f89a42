import type { ToolCallUpsert } from '@liminal/protocol';
import { between } from '../words/time.ts';

/** How far a tool call is: `waiting` needs a permission first, `stopped` never got its result. */
export type ToolPhase = 'running' | 'waiting' | 'done' | 'failed' | 'stopped';

/** `turnEnded`: a call without a result in a turn that is over has been stopped, like one that was cancelled. */
export function toolPhase(call: ToolCallUpsert, waits: boolean, turnEnded: boolean): ToolPhase {
  if (call.errorCode === 'CANCELLED') return 'stopped';
  if (call.status === 'error' || call.toolOutputIsError === true) return 'failed';
  if (call.status === 'complete') return 'done';
  if (turnEnded) return 'stopped';
  return waits ? 'waiting' : 'running';
}

/** Milliseconds that a finished call took. */
export function toolTook(call: ToolCallUpsert): number | undefined {
  if (call.status === 'create' || call.status === 'update') return undefined;
  return between(call.startedAt, call.sourceTimestamp);
}
