import type { TurnView } from '@liminal/client';
import type { ApprovalUpsert, ToolCallUpsert } from '@liminal/protocol';
import { isWaiting } from '../transcript/arrange.ts';

/** A request that waits for a person, and the call that it is about, where it is about one. */
export interface WaitingRequest {
  readonly approval: ApprovalUpsert;
  readonly call: ToolCallUpsert | undefined;
}

/** Every request that waits, the oldest first; those of subagents' calls, too. */
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
            .find((item) => item.callId === approval.callId),
        })),
    );
}

/** What has become of a request that was looked at and waits no more. */
export function findApproval(
  turns: readonly TurnView[],
  approvalId: string,
): ApprovalUpsert | undefined {
  return turns
    .flatMap(({ items }) => items.filter((item) => item.type === 'approval'))
    .findLast((item) => item.approvalId === approvalId);
}
