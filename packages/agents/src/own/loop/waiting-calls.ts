/** Finds, in history, the questions that were open when a turn was cut off. Pure. */
import { isServerTurn, type OutputItem, type Response } from '@liminal/protocol';
import { isFullMark } from '../../base/turn-writer.ts';
import type { ModelCall } from './model-client.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** A call that must be resumed, because a question about the call, or about a call in its script, was still open. */
export type ResumableCall =
  | { call: CallItem; approvalId: string }
  | { call: CallItem; script: ScriptRecord };

/** The record of a script that was cut off, collected from all turns that have run the script. */
export interface ScriptRecord {
  /** The time at which the script first began. */
  startedAt: string;
  /** The script's calls, in the order in which the script made them. */
  calls: readonly RecordedCall[];
}

/** A call in the record of a script. If a call has neither an output nor an open question, its outcome is unknown. */
export interface RecordedCall {
  item: CallItem;
  /** The output, if the call has ended. */
  output?: CallOutput;
  /** The id of the question that was open for the call. */
  approvalId?: string;
}

/** A call that Liminal must run. */
export interface WantedCall extends ModelCall {
  /** The id of the earlier question. The call repeats the question under this id. */
  approvalId?: string | undefined;
  /** The complete item of the call. The item is still open. */
  item?: OutputItem | undefined;
  /** Why the call must not run, as a sentence for the model. */
  problem?: string;
  /** The record of a script that was cut off and is resumed. */
  script?: ScriptRecord;
  /** Called when people have been asked, or when no question is needed; may be called more than once. */
  onAsked?: () => void;
}

/** Returns the id of the script that a call of `run_script` runs. @param itemId - The call's item. */
export const scriptOf = (itemId: string): string => `${itemId}:script`;

/** Returns the id of a script's call and of the call's item. @param place - Counted from 1. */
export const scriptCallOf = (scriptId: string, place: number): string => `${scriptId}:${place}`;

/** Returns the id of a call's output. @param itemId - The call's item. */
export const outputOf = (itemId: string): string => `${itemId}:output`;

/** Returns the calls whose questions were open when the newest turn was cut off. */
export function resumableCalls(runs: readonly Response[]): ResumableCall[] {
  const tries = triesIn(runs);
  const made = tries.flatMap(({ outputItems }) => outputItems.filter(isCall));
  // The first attempt is used: the first attempt reached the question, while a later attempt may have broken off
  // earlier.
  const first = Map.groupBy(made, ({ callId }) => callId);
  return [...first].flatMap(([callId, [call]]): ResumableCall[] => {
    if (call === undefined || call.parentCallId !== undefined) return [];
    const known = knownOf(tries.map(({ outputItems }) => ({ items: outputItems, callId })));
    if (known?.output) return [];
    if (known?.approvalId !== undefined) return [{ call, approvalId: known.approvalId }];
    const script = scriptRecordOf(callId, tries);
    return script?.calls.some((one) => one.approvalId !== undefined) ? [{ call, script }] : [];
  });
}

/** Returns the newest turn and the turns that it resumed, oldest first; a person started the oldest of these turns. */
function triesIn(runs: readonly Response[]): Response[] {
  const all = runs.filter((run) => !isServerTurn(run));
  const first = all.findLastIndex(({ trigger }) => trigger !== 'agent');
  return all.slice(Math.max(first, 0));
}

/** Returns undefined if the call is not a script, or if the record is incomplete. */
function scriptRecordOf(callId: string, tries: readonly Response[]): ScriptRecord | undefined {
  const scripts = tries.flatMap(({ outputItems: items, turnId }) => {
    const call = items.find((item) => isCall(item) && item.callId === callId);
    const script = items.find((item) => item.id === (call && scriptOf(call.id)));
    return script?.startedAt === undefined
      ? []
      : [{ id: script.id, startedAt: script.startedAt, items, turnId }];
  });
  const [first] = scripts;
  if (first === undefined) return undefined;
  // Once a turn has reached its limit, nothing more is stored, not even calls, so the record of the turn's script is
  // incomplete.
  if (scripts.some(({ items, turnId }) => items.some((item) => isFullMark(item, turnId)))) return;
  const calls: RecordedCall[] = [];
  for (;;) {
    const place = calls.length + 1;
    const known = knownOf(
      scripts.map(({ id, items }) => ({ items, callId: scriptCallOf(id, place) })),
    );
    if (known === undefined) return { startedAt: first.startedAt, calls };
    calls.push(known);
  }
}

/**
 * Returns a call with its output, from whichever turn stored the output. Without an output, the call has the fields
 * from the newest turn.
 */
function knownOf(
  places: readonly { items: readonly OutputItem[]; callId: string }[],
): RecordedCall | undefined {
  const known = places.flatMap(({ items, callId }) => callIn(items, callId) ?? []);
  return known.find(({ output }) => output !== undefined) ?? known.at(-1);
}

function callIn(items: readonly OutputItem[], callId: string): RecordedCall | undefined {
  const item = items.find((one) => isCall(one) && one.callId === callId);
  if (item?.type !== 'function_call') return undefined;
  const output = items.find((one) => isEnded(one) && one.callId === callId);
  if (output?.type === 'function_call_output') return { item, output };
  const approvalId = questionOf(callId, items);
  return approvalId === undefined ? { item } : { item, approvalId };
}

/** Returns the id of the unanswered question about a call. */
function questionOf(callId: string, items: readonly OutputItem[]): string | undefined {
  const asked = items.find((item) => item.type === 'approval' && item.callId === callId);
  if (asked?.type !== 'approval' || asked.outcome?.outcome !== 'cancelled') return undefined;
  return asked.approvalId;
}

const isCall = (item: OutputItem): item is CallItem => item.type === 'function_call';

/** Returns whether an item is a complete output. An output that broke off contains only the part that had arrived. */
const isEnded = (item: OutputItem): item is CallOutput =>
  item.type === 'function_call_output' && item.error === undefined;
