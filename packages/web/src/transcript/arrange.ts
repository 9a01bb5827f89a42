import type { ApprovalUpsert, ToolCallUpsert, UpsertObject } from '@liminal/protocol';
import { approvalAnswerText } from './answering.ts';
import { isNotMade, toolPhase } from './tool-outcome.ts';
import { commandOf } from './tool-words.ts';

/** A row of a turn, as the page shows it. */
export type Row =
  | { kind: 'item'; key: string; item: Exclude<UpsertObject, { type: 'tool_call' }> }
  | {
      kind: 'tool';
      key: string;
      call: ToolCallUpsert;
      approval?: ApprovalUpsert;
      /** The script that the call runs. The script is shown with the call, and its items are in the rows below. */
      script?: ToolCallUpsert;
      /** Set for a person's own command (`!ls`), because its output is what the person asked for. */
      isOwn?: true;
      below: Row[];
    }
  | { kind: 'reads'; key: string; calls: ToolCallUpsert[] }
  | { kind: 'not-made'; key: string; rows: ToolRow[] };

export type ToolRow = Extract<Row, { kind: 'tool' }>;

/** The smallest number of calls that are joined in one row. Fewer calls stay rows of their own. */
const runLength = 2;

/**
 * Arranges a turn's items for reading. The items of a subagent or script are placed below the call that started it, a
 * permission request is placed in its call, and, when the turn has ended, file changes come last. Consecutive reads
 * become one row, and so do consecutive calls that were not made.
 */
export function arrange(items: readonly UpsertObject[], turnEnded = false): Row[] {
  const calls = items.filter((item) => item.type === 'tool_call');
  const byCallId = new Map(calls.map((call) => [call.callId, call]));
  const scripts = new Map<string, ToolCallUpsert>();
  const approvals = new Map<string, ApprovalUpsert>();
  const children = new Map<string | undefined, UpsertObject[]>();
  for (const item of items) {
    if (item.type === 'approval' && item.callId !== undefined && byCallId.has(item.callId)) {
      approvals.set(item.callId, item);
      continue;
    }
    const parent = parentOf(item, byCallId);
    if (parent !== undefined && isScriptOf(item, byCallId.get(parent)) && !scripts.has(parent)) {
      scripts.set(parent, item);
      continue;
    }
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [item]);
    else siblings.push(item);
  }
  const rowsBelow = (parent: string | undefined): Row[] =>
    foldRuns(
      changesLast(children.get(parent) ?? [], turnEnded).map((item) => toRow(item)),
      turnEnded,
    );
  const own = ownCommand(items[0]);
  const toRow = (item: UpsertObject): Row => {
    if (item.type !== 'tool_call') return { kind: 'item', key: item.itemId, item };
    const approval = approvals.get(item.callId);
    const script = scripts.get(item.callId);
    const below = [...(script ? rowsBelow(script.callId) : []), ...rowsBelow(item.callId)];
    const row: ToolRow = { kind: 'tool', key: item.itemId, call: item, below };
    const isOwn = own !== undefined && commandOf(item) === own;
    return {
      ...row,
      ...(approval && { approval }),
      ...(script && { script }),
      ...(isOwn && { isOwn }),
    };
  };
  return rowsBelow(undefined);
}

/** Returns the command of a message that is a person's own command (`!ls`); undefined for other items. */
function ownCommand(item: UpsertObject | undefined): string | undefined {
  if (item?.type !== 'message' || item.origin !== 'user') return undefined;
  return item.content.startsWith('!') ? item.content.slice(1).trim() : undefined;
}

/** Whether the item is the script that the call runs. Such an item repeats the call. */
function isScriptOf(item: UpsertObject, call: ToolCallUpsert | undefined): item is ToolCallUpsert {
  return item.type === 'tool_call' && item.toolName === 'script' && call?.toolName === 'run_script';
}

function changesLast(items: readonly UpsertObject[], turnEnded: boolean): readonly UpsertObject[] {
  const changes = items.filter((item) => item.type === 'file_changes');
  if (changes.length === 0) return items;
  const shown = changes.filter(({ diffs }) => turnEnded && diffs.length > 0);
  return [...items.filter((item) => item.type !== 'file_changes'), ...shown];
}

/**
 * Returns the parent of an item. Returns undefined, for the top level, if the parent is missing, or if the item is
 * its own ancestor.
 */
function parentOf(item: UpsertObject, calls: Map<string, ToolCallUpsert>): string | undefined {
  if (item.parentCallId === undefined) return undefined;
  const seen = new Set<string>();
  let parent: string | undefined = item.parentCallId;
  while (parent !== undefined && calls.has(parent) && !seen.has(parent)) {
    if (item.type === 'tool_call' && parent === item.callId) return undefined;
    seen.add(parent);
    parent = calls.get(parent)?.parentCallId;
  }
  const isCircle = parent !== undefined && seen.has(parent);
  if (isCircle) return undefined;
  return calls.has(item.parentCallId) ? item.parentCallId : undefined;
}

function foldRuns(rows: Row[], turnEnded: boolean): Row[] {
  const folded: Row[] = [];
  let run: ToolRow[] = [];
  let runKind: RunKind | undefined;
  const endRun = () => {
    folded.push(...(runKind === undefined || run.length < runLength ? run : [asRun(runKind, run)]));
    run = [];
  };
  for (const row of rows) {
    const kind = row.kind === 'tool' ? runKindOf(row, turnEnded) : undefined;
    if (kind !== runKind) endRun();
    runKind = kind;
    if (row.kind === 'tool' && kind !== undefined) run.push(row);
    else folded.push(row);
  }
  endRun();
  return folded;
}

type RunKind = 'reads' | 'not-made';

function asRun(kind: RunKind, rows: ToolRow[]): Row {
  const key = `${kind}-${rows[0]?.key}`;
  return kind === 'reads' ? { kind, key, calls: rows.map((row) => row.call) } : { kind, key, rows };
}

function runKindOf(row: ToolRow, turnEnded: boolean): RunKind | undefined {
  const { call, approval, below } = row;
  const waits = approval !== undefined && isWaiting(approval);
  const hasAnswerText = approval !== undefined && approvalAnswerText(approval) !== undefined;
  if (
    below.length === 0 &&
    !hasAnswerText &&
    isNotMade(toolPhase(call, waits, turnEnded, approval))
  ) {
    return 'not-made';
  }
  return isSmallRead(row) ? 'reads' : undefined;
}

function isSmallRead({ call, approval, below }: ToolRow): boolean {
  const reads = call.kind === 'read' || call.kind === 'search';
  const plain = call.status !== 'error' && call.toolOutputIsError !== true;
  return reads && plain && approval === undefined && below.length === 0;
}

/** Returns the first permission request below a row that still waits for an answer. */
export function waitingBelow(rows: readonly Row[]): ApprovalUpsert | undefined {
  for (const row of rows) {
    if (row.kind !== 'tool') continue;
    const { approval, below } = row;
    const waiting = approval && isWaiting(approval) ? approval : waitingBelow(below);
    if (waiting !== undefined) return waiting;
  }
  return undefined;
}

/** Whether a permission request still waits for an answer. */
export function isWaiting(approval: ApprovalUpsert): boolean {
  return (
    approval.outcome === undefined && approval.status !== 'error' && approval.status !== 'complete'
  );
}
