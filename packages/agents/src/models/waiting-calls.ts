/** What a turn was still asking people when it was cut off: pure, made of what history has of it. */
import { isServerTurn, type OutputItem, type Response } from '@liminal/protocol';
import { isFullMark } from '../base/turn-writer.ts';
import type { ModelCall } from './model-client.ts';

type Call = Extract<OutputItem, { type: 'function_call' }>;
type Output = Extract<OutputItem, { type: 'function_call_output' }>;

/** A call that has to be gone on with: its permission was still asked for, or that of a call within its script. */
export type AskedCall = { call: Call; approvalId: string } | { call: Call; script: ScriptRecord };

/** What is known of a script that was cut off, from all turns that have run it. */
export interface ScriptRecord {
  /** When it began first. */
  startedAt: string;
  /** Its calls, in the order in which it made them. */
  calls: readonly RecordedCall[];
}

/** A call that has begun. Without an output and a question nobody knows how far it came. */
export interface RecordedCall {
  item: Call;
  /** If it has ended. */
  output?: Output;
  /** Of the question that it waited for. */
  approvalId?: string;
}

/** A call that is to be run. */
export interface WantedCall extends ModelCall {
  /** Of the question that was asked before, and is asked again. */
  approvalId?: string | undefined;
  /** Its item, whole and still open. */
  item?: OutputItem | undefined;
  /** Why it is not to be run, as a sentence for the model. */
  problem?: string;
  /** Of a script that was cut off, and is gone on with. */
  script?: ScriptRecord;
  /** Called as soon as people are asked, or need not be; it may be called again. */
  onAsked?: () => void;
}

/** The id of the script that a call of `run_script` runs. @param itemId - Of the call. */
export const scriptOf = (itemId: string): string => `${itemId}:script`;

/** The id of a script's call, which is its item's, too. @param place - From 1 on. */
export const scriptCallOf = (scriptId: string, place: number): string => `${scriptId}:${place}`;

/** The id of what a call came to. @param itemId - Of the call. */
export const outputOf = (itemId: string): string => `${itemId}:output`;

/** What the newest turn was still asking people when it was cut off. */
export function askedIn(runs: readonly Response[]): AskedCall[] {
  const tries = triesIn(runs);
  const made = tries.flatMap(({ outputItems }) => outputItems.filter(isCall));
  // The first time that it was made it came as far as a question; later it may have broken off before.
  const first = Map.groupBy(made, ({ callId }) => callId);
  return [...first].flatMap(([callId, [call]]): AskedCall[] => {
    if (call === undefined || call.parentCallId !== undefined) return [];
    const known = knownOf(tries.map(({ outputItems }) => ({ items: outputItems, callId })));
    if (known?.output) return [];
    if (known?.approvalId !== undefined) return [{ call, approvalId: known.approvalId }];
    const script = recordOf(callId, tries);
    return script?.calls.some((one) => one.approvalId !== undefined) ? [{ call, script }] : [];
  });
}

/** The newest turn, after those that it has gone on with: one that a person began is the first. */
function triesIn(runs: readonly Response[]): Response[] {
  const all = runs.filter((run) => !isServerTurn(run));
  const first = all.findLastIndex(({ trigger }) => trigger !== 'agent');
  return all.slice(Math.max(first, 0));
}

/** Undefined for a call that is no script, or of which not all is known. */
function recordOf(callId: string, tries: readonly Response[]): ScriptRecord | undefined {
  const scripts = tries.flatMap(({ outputItems: items, turnId }) => {
    const call = items.find((item) => isCall(item) && item.callId === callId);
    const script = items.find((item) => item.id === (call && scriptOf(call.id)));
    return script?.startedAt === undefined
      ? []
      : [{ id: script.id, startedAt: script.startedAt, items, turnId }];
  });
  const [first] = scripts;
  if (first === undefined) return undefined;
  // What came after it was not kept, calls among it.
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

/** A call by the id that it has in each turn's items: how it ended, if it did, or how it stands in the newest. */
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

/** The question about a call that had no answer. */
function questionOf(callId: string, items: readonly OutputItem[]): string | undefined {
  const asked = items.find((item) => item.type === 'approval' && item.callId === callId);
  if (asked?.type !== 'approval' || asked.outcome?.outcome !== 'cancelled') return undefined;
  return asked.approvalId;
}

const isCall = (item: OutputItem): item is Call => item.type === 'function_call';

/** An output that broke off says only how far it was heard. */
const isEnded = (item: OutputItem): item is Output =>
  item.type === 'function_call_output' && item.error === undefined;
