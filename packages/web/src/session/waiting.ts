import type { TurnView } from '@liminal/client';
import type { ApprovalUpsert, ToolCallUpsert } from '@liminal/protocol';
import { isWaiting } from '../transcript/arrange.ts';

/** A request that waits for a person, and the tool call of the request, if there is one. */
export interface WaitingRequest {
  readonly approval: ApprovalUpsert;
  readonly call: ToolCallUpsert | undefined;
}

/** Returns all waiting requests, the oldest first, including requests of subagents' calls. */
export function waitingRequests(turns: readonly TurnView[]): WaitingRequest[] {
  return turns
    .filter((turn) => turn.status === 'in_progress')
    .flatMap(({ items }) =>
      items
        .filter((item) => item.type === 'approval')
        .filter((approval) => isWaiting(approval))
        .map((approval) => ({
          approval,
          call: items
            .filter((item) => item.type === 'tool_call')
            // Agents may use an id twice, so take the newest call with the id.
            .findLast((item) => item.callId === approval.callId),
        })),
    );
}

/** Finds a request that was shown but may no longer be waiting. */
export function findApproval(
  turns: readonly TurnView[],
  approvalId: string,
): ApprovalUpsert | undefined {
  return turns
    .flatMap(({ items }) => items.filter((item) => item.type === 'approval'))
    .findLast((item) => item.approvalId === approvalId);
}
