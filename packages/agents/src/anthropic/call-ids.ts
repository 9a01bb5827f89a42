import type { OutputItem } from '@liminal/protocol';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type ResultItem = Extract<OutputItem, { type: 'function_call_output' }>;

/** The API takes only these characters in the id of a call, and each id once; other makers' ids differ. */
const isTaken = /^[\w-]{1,64}$/;

/** Which result belongs to which call, and a valid id for each call. */
export class CallIds {
  readonly #ids = new Map<CallItem, string>();
  readonly #results = new Map<CallItem, ResultItem>();

  constructor(conversation: readonly OutputItem[]) {
    const used = new Set<string>();
    const waiting = new Map<string, CallItem>();
    for (const item of conversation) {
      if (item.type === 'function_call') {
        waiting.set(item.callId, item);
        this.#ids.set(item, valid(item.callId, used));
      }
      if (item.type !== 'function_call_output') continue;
      const call = waiting.get(item.callId);
      if (call !== undefined) this.#results.set(call, item);
    }
  }

  of(call: CallItem): string {
    return this.#ids.get(call) ?? call.callId;
  }

  resultOf(call: CallItem): ResultItem | undefined {
    return this.#results.get(call);
  }
}

function valid(id: string, used: Set<string>): string {
  const plain = isTaken.test(id) ? id : id.replaceAll(/[^\w-]/g, '_').slice(0, 50) || 'call';
  let unique = plain;
  for (let count = 2; used.has(unique); count += 1) unique = `${plain.slice(0, 50)}_${count}`;
  used.add(unique);
  return unique;
}
