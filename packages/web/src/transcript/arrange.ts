import type { ApprovalUpsert, ToolCallUpsert, UpsertObject } from '@liminal/protocol';

/** What stands under each other in a turn. */
export type Row =
  | { kind: 'item'; key: string; item: Exclude<UpsertObject, { type: 'tool_call' }> }
  | { kind: 'tool'; key: string; call: ToolCallUpsert; approval?: ApprovalUpsert; below: Row[] }
  | { kind: 'reads'; key: string; calls: ToolCallUpsert[] };

type ToolRow = Extract<Row, { kind: 'tool' }>;

/** Fewer than this many reads one after another stay single. */
const runLength = 2;

/**
 * Arranges a turn's items for reading: what a subagent did goes below the call that started it, a permission request
 * goes to the call it asks for, and reads that follow each other become one row.
 */
export function arrange(items: readonly UpsertObject[]): Row[] {
  const calls = items.filter((item) => item.type === 'tool_call');
  const byCallId = new Map(calls.map((call) => [call.callId, call]));
  const approvals = new Map<string, ApprovalUpsert>();
  const children = new Map<string | undefined, UpsertObject[]>();
  for (const item of items) {
    if (item.type === 'approval' && item.callId !== undefined && byCallId.has(item.callId)) {
      approvals.set(item.callId, item);
      continue;
    }
    const parent = parentOf(item, byCallId);
    children.set(parent, [...(children.get(parent) ?? []), item]);
  }
  const rowsBelow = (parent: string | undefined): Row[] =>
    foldReads((children.get(parent) ?? []).map((item) => toRow(item)));
  const toRow = (item: UpsertObject): Row => {
    if (item.type !== 'tool_call') return { kind: 'item', key: item.itemId, item };
    const approval = approvals.get(item.callId);
    const below = rowsBelow(item.callId);
    const row: ToolRow = { kind: 'tool', key: item.itemId, call: item, below };
    return approval === undefined ? row : { ...row, approval };
  };
  return rowsBelow(undefined);
}

/** A parent that is not here, or that is the item itself, leaves the item at the top. */
function parentOf(item: UpsertObject, calls: Map<string, ToolCallUpsert>): string | undefined {
  const seen = new Set<string>();
  let parent = item.parentCallId;
  while (parent !== undefined && calls.has(parent) && !seen.has(parent)) {
    if (item.type === 'tool_call' && parent === item.callId) return undefined;
    seen.add(parent);
    parent = calls.get(parent)?.parentCallId;
  }
  const isCircle = parent !== undefined && seen.has(parent);
  if (isCircle || item.parentCallId === undefined) return undefined;
  return calls.has(item.parentCallId) ? item.parentCallId : undefined;
}

function foldReads(rows: Row[]): Row[] {
  const folded: Row[] = [];
  let run: ToolRow[] = [];
  const endRun = () => {
    const [first] = run;
    if (first !== undefined && run.length >= runLength) {
      folded.push({ kind: 'reads', key: `reads-${first.key}`, calls: run.map((row) => row.call) });
    } else {
      folded.push(...run);
    }
    run = [];
  };
  for (const row of rows) {
    if (row.kind === 'tool' && isSmallRead(row)) {
      run.push(row);
    } else {
      endRun();
      folded.push(row);
    }
  }
  endRun();
  return folded;
}

function isSmallRead({ call, approval, below }: ToolRow): boolean {
  const reads = call.kind === 'read' || call.kind === 'search';
  const plain = call.status !== 'error' && call.toolOutputIsError !== true;
  return reads && plain && approval === undefined && below.length === 0;
}

/** Whether a permission request still waits for an answer. */
export function isWaiting(approval: ApprovalUpsert): boolean {
  return (
    approval.outcome === undefined && approval.status !== 'error' && approval.status !== 'complete'
  );
}
