import type { ApprovalUpsert, ToolCallUpsert } from '@liminal/protocol';
import { between } from '../words/time.ts';
import { asksSomething, isAllowing } from './answering.ts';
import { isForModel } from './model-text.ts';
import { isQuestion } from './tool-words.ts';

/**
 * The state of a tool call: `waiting` for a permission, `rejected` by a person (for a question: skipped), `stopped`
 * without a result.
 */
export type ToolPhase = 'running' | 'waiting' | 'rejected' | 'done' | 'failed' | 'stopped';

/**
 * Returns the phase of a call. `turnEnded` tells whether the turn is finished: a call without a result was then
 * stopped, like a cancelled call. `script` is the script that the call runs.
 */
export function toolPhase(
  call: ToolCallUpsert,
  waits: boolean,
  turnEnded: boolean,
  approval?: ApprovalUpsert,
  script?: ToolCallUpsert,
): ToolPhase {
  if (approval !== undefined && wasRejected(call, approval)) return 'rejected';
  if (turnEnded && neverRan(call, approval)) return 'stopped';
  if (call.errorCode === 'CANCELLED' || script?.errorCode === 'SCRIPT_CANCELLED') return 'stopped';
  if (call.toolOutputIsError === true && isForModel(call.toolOutput ?? '')) return 'stopped';
  if (call.status === 'error' || call.toolOutputIsError === true) return 'failed';
  if (call.status === 'complete') return 'done';
  if (turnEnded) return 'stopped';
  return waits ? 'waiting' : 'running';
}

/** Whether the turn ended before anybody allowed the call. */
export function neverRan(call: ToolCallUpsert, approval?: ApprovalUpsert): boolean {
  const hasResult = call.status === 'complete' && call.toolOutputIsError !== true;
  return approval?.outcome?.outcome === 'cancelled' && !hasResult;
}

/** Whether a call changed nothing, so that its lines and files are not counted. */
export function isNotMade(phase: ToolPhase): boolean {
  return phase === 'rejected' || phase === 'stopped';
}

function wasRejected(call: ToolCallUpsert, approval: ApprovalUpsert): boolean {
  const { outcome } = approval;
  if (outcome?.outcome !== 'selected') return false;
  // A call continues after a form that was declined, unless the call is itself the question.
  if (asksSomething(approval) && !isQuestion(call)) return false;
  return !isAllowing(approval, outcome.optionId);
}

/** Returns when a call could start (ISO time): after the time that people took to answer. */
export function beganAt(call: ToolCallUpsert, approval?: ApprovalUpsert): string | undefined {
  const { startedAt } = call;
  if (approval?.outcome === undefined || startedAt === undefined) return startedAt;
  const answeredAt = approval.sourceTimestamp;
  return Date.parse(answeredAt) > Date.parse(startedAt) ? answeredAt : startedAt;
}

/** Returns how long a finished call took, in ms: as its agent reports, or else from `began` to its end. */
export function toolTook(call: ToolCallUpsert, began: string | undefined): number | undefined {
  if (call.status === 'create' || call.status === 'update') return undefined;
  return call.durationMs ?? between(began, call.sourceTimestamp);
}

/** Returns the milliseconds during which at least one request waited for a person. */
export function waitedFor(approvals: readonly ApprovalUpsert[]): number {
  const waits = approvals
    .filter(({ outcome, startedAt }) => outcome !== undefined && startedAt !== undefined)
    .map(({ startedAt = '', sourceTimestamp }) => [startedAt, sourceTimestamp].map(Date.parse))
    .toSorted(([a = 0], [b = 0]) => a - b);
  let waited = 0;
  let reached = -Infinity;
  for (const [from = 0, to = 0] of waits) {
    waited += Math.max(0, to - Math.max(from, reached)) || 0;
    reached = Math.max(reached, to);
  }
  return waited;
}
