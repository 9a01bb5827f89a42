import type { ApprovalUpsert, FileDiff, ToolCallUpsert, UpsertObject } from '@liminal/protocol';

const base = {
  turnId: 't1',
  sessionId: 's1',
  sourceTimestamp: '2026-01-01T00:00:05.000Z',
  emittedAt: '2026-01-01T00:00:05.000Z',
  status: 'complete',
} as const;

export function tool(callId: string, rest: Partial<ToolCallUpsert> = {}): ToolCallUpsert {
  const call = { itemId: `item-${callId}`, callId, toolName: 'Tool', toolArguments: {} };
  return { ...base, type: 'tool_call', ...call, ...rest };
}

export function text(itemId: string, rest: { parentCallId?: string } = {}): UpsertObject {
  return { ...base, type: 'message', itemId, content: itemId, origin: 'agent', ...rest };
}

export function fileChanges(
  itemId: string,
  rest: { parentCallId?: string; diffs?: FileDiff[] } = {},
): UpsertObject {
  const diffs = [{ path: '/a', newText: 'a' }];
  return { ...base, type: 'file_changes', itemId, diffs, ...rest };
}

export function approval(approvalId: string, rest: Partial<ApprovalUpsert> = {}): ApprovalUpsert {
  return {
    ...base,
    type: 'approval',
    itemId: approvalId,
    approvalId,
    status: 'create',
    title: 'Run a program',
    options: [
      { optionId: 'no', name: 'Deny', kind: 'reject_once' },
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    ],
    ...rest,
  };
}
