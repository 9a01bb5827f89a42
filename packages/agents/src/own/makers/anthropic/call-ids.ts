import type { OutputItem } from '@liminal/protocol';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** The form of call ids that the API accepts. Ids must also be unique; ids of other makers may not have this form. */
const isTaken = /^[\w-]{1,64}$/;

/** Assigns a valid id to each call, and the same id to the call's result. */
export class CallIds {
  readonly #ids = new Map<CallItem, string>();
  readonly #results = new Map<CallItem, CallOutput>();

  constructor(conversation: readonly OutputItem[]) {
    const valid = new ValidIds();
    const waiting = new Map<string, CallItem>();
    for (const item of conversation) {
      if (item.type === 'function_call') {
        waiting.set(item.callId, item);
        this.#ids.set(item, valid.take(item.callId));
      }
      if (item.type !== 'function_call_output') continue;
      const call = waiting.get(item.callId);
      if (call !== undefined) this.#results.set(call, item);
    }
  }

  of(call: CallItem): string {
    return this.#ids.get(call) ?? call.callId;
  }

  resultOf(call: CallItem): CallOutput | undefined {
    return this.#results.get(call);
  }
}

/** Makes unique ids that the API accepts. */
class ValidIds {
  readonly #used = new Set<string>();
  /** For each id that was repeated, the last number that was appended to the id. */
  readonly #counts = new Map<string, number>();

  take(id: string): string {
    const plain = isTaken.test(id) ? id : id.replaceAll(/[^\w-]/g, '_').slice(0, 50) || 'call';
    let unique = plain;
    let count = this.#counts.get(plain) ?? 1;
    for (; this.#used.has(unique); unique = `${plain.slice(0, 50)}_${count}`) count += 1;
    this.#counts.set(plain, count);
    this.#used.add(unique);
    return unique;
  }
}
