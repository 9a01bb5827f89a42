/** Finds in history what a turn was still asking people when it was cut off: pure. */
import { isServerTurn, type OutputItem, type Response } from '@liminal/protocol';
import { isFullMark } from '../../base/turn-writer.ts';
import type { ModelCall } from './model-client.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** A call that must be resumed, because its permission, or that of a call within its script, was still being asked for. */
export type ResumableCall =
  | { call: CallItem; approvalId: string }
  | { call: CallItem; script: ScriptRecord };

/** The record of a script that was cut off, from all turns that have run it. */
export interface ScriptRecord {
  /** When the script first began. */
  startedAt: string;
  /** The script's calls, in the order in which it made them. */
  calls: readonly RecordedCall[];
}

/** A call that has begun. If it has neither an output nor an open question, its outcome is unknown. */
export interface RecordedCall {
  item: CallItem;
  /** The output, if the call has ended. */
  output?: CallOutput;
  /** The id of the question that the call was waiting for. */
  approvalId?: string;
}

/** A call that Liminal must run. */
export interface WantedCall extends ModelCall {
  /** The id of the earlier question, which is asked again. */
  approvalId?: string | undefined;
  /** The call's item, whole and still open. */
  item?: OutputItem | undefined;
  /** Why the call is not run, as a sentence for the model. */
  problem?: string;
  /** The record of a script that was cut off and is resumed. */
  script?: ScriptRecord;
  /** Called as soon as people are asked, or need not be asked; may be called again. */
  onAsked?: () => void;
}

/** The id of the script that a call of `run_script` runs. @param itemId - The call's item. */
export const scriptOf = (itemId: string): string => `${itemId}:script`;

/** The id of a script's call and of the call's item. @param place - Counted from 1. */
export const scriptCallOf = (scriptId: string, place: number): string => `${scriptId}:${place}`;

/** The id of a call's output. @param itemId - The call's item. */
export const outputOf = (itemId: string): string => `${itemId}:output`;

/** The calls for which the newest turn was still asking people when it was cut off. */
export function resumableCalls(runs: readonly Response[]): ResumableCall[] {
  const tries = triesIn(runs);
  const made = tries.flatMap(({ outputItems }) => outputItems.filter(isCall));
  // Take the first attempt: it got as far as a question, while a later attempt may have broken off before.
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

/** The newest turn and the turns that it resumed, oldest first; the first of them was begun by a person. */
function triesIn(runs: readonly Response[]): Response[] {
  const all = runs.filter((run) => !isServerTurn(run));
  const first = all.findLastIndex(({ trigger }) => trigger !== 'agent');
  return all.slice(Math.max(first, 0));
}

/** Undefined for a call that is not a script, or whose record is incomplete. */
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
  // Once the turn was full, nothing more was stored, including calls.
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

/** A call with its output from any of the turns; without an output, as the newest turn has it. */
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

/** The id of the question about a call that was never answered. */
function questionOf(callId: string, items: readonly OutputItem[]): string | undefined {
  const asked = items.find((item) => item.type === 'approval' && item.callId === callId);
  if (asked?.type !== 'approval' || asked.outcome?.outcome !== 'cancelled') return undefined;
  return asked.approvalId;
}

const isCall = (item: OutputItem): item is CallItem => item.type === 'function_call';

/** An output that broke off only shows how much of it had arrived. */
const isEnded = (item: OutputItem): item is CallOutput =>
  item.type === 'function_call_output' && item.error === undefined;
