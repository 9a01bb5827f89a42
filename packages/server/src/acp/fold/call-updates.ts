import {
  type ErrorObject,
  type OutputItem,
  PersistentMap,
  type ResponseState,
  itemText,
} from '@liminal/protocol';
import {
  announcedCall,
  type CallItem,
  changedCall,
  clearedCall,
  cutOffCall,
  endedCall,
  hasCompleteInput,
  type OutputOf,
  outputUpdate,
  titleOf,
  type ToolCall,
  type ToolCallUpdate,
} from './tool-calls.ts';

/** The state in which a call that has not ended, and its output, were sent. */
interface SentCall {
  /** Whether the call was sent as in progress. */
  readonly runs: boolean;
  /** The arguments, or the script's code, that were sent. */
  readonly input?: string | undefined;
  /** The id of the output's item; undefined while the call has no output. */
  readonly itemId: string | undefined;
  /** The sent length of the output, in characters. */
  readonly length: number;
  readonly blocks: number;
  /** Whether the output goes to a terminal, in which output that was sent is not repeated. */
  readonly isTerminal: boolean;
  /** The output has ended, although arguments of its call still arrive. */
  readonly isOver?: boolean;
}

/** The calls of a run in the state in which they were sent to the client. */
export interface CallsState {
  /** Calls that have not ended, by `callId`; scripts, by the id of their item. */
  readonly open: PersistentMap<CallItem>;
  /** The item of every call, by `callId`. */
  readonly ids: PersistentMap<string>;
  /** Sent calls, by the id of the call's item. */
  readonly sent: PersistentMap<SentCall>;
}

export const noCalls: CallsState = {
  open: PersistentMap.empty(),
  ids: PersistentMap.empty(),
  sent: PersistentMap.empty(),
};

export interface CallUpdatesOptions {
  state: CallsState;
  before: ResponseState;
  after: ResponseState;
  /** Whether the client shows output in a terminal. */
  terminals: boolean;
  emit: (update: ToolCall | ToolCallUpdate) => void;
  /** The text that was added to an open item; undefined if the text has changed in another way. */
  addedText: (item: OutputItem) => string | undefined;
}

/**
 * If an output is always sent whole, it is sent again only when it has grown by this share and by this many characters,
 * so that the total size is O(n).
 */
const growth = { part: 1.25, characters: 256 };

const noOutput = { itemId: undefined, length: 0, blocks: 0, isTerminal: false };

const withdrawnCall: ErrorObject = {
  code: 'WITHDRAWN',
  message: 'The call was withdrawn: the model is asked again.',
};

/** Computes the updates between two states of a run's calls. */
export class CallUpdates {
  readonly #options: CallUpdatesOptions;
  #open: PersistentMap<CallItem>;
  #ids: PersistentMap<string>;
  #sent: PersistentMap<SentCall>;

  constructor(options: CallUpdatesOptions) {
    this.#options = options;
    ({ open: this.#open, ids: this.#ids, sent: this.#sent } = options.state);
  }

  get state(): CallsState {
    return { open: this.#open, ids: this.#ids, sent: this.#sent };
  }

  /** Returns the id that the client has for a call. */
  idOf(callId: string): string | undefined {
    return this.#ids.get(callId);
  }

  isTerminal(call: CallItem): boolean {
    return this.#sent.get(call.id)?.isTerminal === true;
  }

  foldCall(item: CallItem, parent: string | undefined): void {
    const isInputComplete =
      !this.#options.after.open.has(item.id) || item.type === 'script_execution';
    const known = this.#options.before.open.get(item.id)?.item;
    if (known === undefined) this.#announce(item, isInputComplete, parent);
    else if (item.type === 'function_call') this.#change(known as CallItem, item, isInputComplete);
    this.#ids = this.#ids.set(keyOf(item), item.id);
    if (item.error !== undefined) return this.#cut(item, item.error);
    if (this.#sent.get(item.id)?.isOver !== true) this.#open = this.#open.set(keyOf(item), item);
    else if (isInputComplete) this.#sent = this.#sent.delete(item.id);
  }

  foldOutput(item: OutputOf, parent: string | undefined): void {
    const { after, addedText, emit } = this.#options;
    const isOpen = after.open.has(item.id);
    // The id of an open output's call is not known yet.
    if (isOpen && callIdOf(item) === item.id) return;
    const call = this.#open.get(callIdOf(item)) ?? this.#announceUnknown(item, parent);
    const sent = this.#sentStateOf(call, item);
    const added = sent.itemId === item.id ? addedText(item) : itemText(item);
    const isTerminal = sent.isTerminal && added !== undefined;
    if (!isOpen) {
      this.#open = this.#open.delete(callIdOf(item));
      this.#sent = after.open.has(call.id)
        ? this.#sent.set(call.id, { ...sent, isOver: true })
        : this.#sent.delete(call.id);
      return emit(endedCall(call, item, { isTerminal, printed: added ?? '' }));
    }
    // Output shows that the call is running, even if its agent has not reported a start.
    const next = { ...sent, ...outputSize(item), itemId: item.id, isTerminal, runs: true };
    const hasNewBlocks = next.blocks !== sent.blocks;
    const isDue = isTerminal ? next.length > sent.length : isWorthSending(sent, next);
    if (!isDue && !hasNewBlocks) return;
    this.#sent = this.#sent.set(call.id, next);
    emit(outputUpdate(call, item, { isTerminal, printed: added ?? '', begins: !sent.runs }));
  }

  /** Withdraws a call, or the output of a call. */
  withdraw(item: CallItem | OutputOf): void {
    const { emit } = this.#options;
    if (isCall(item)) {
      this.#forget(item);
      return this.#cut(item, withdrawnCall);
    }
    const call = this.#open.get(callIdOf(item));
    const sent = call && this.#sent.get(call.id);
    // The output was sent as a separate call.
    if (call?.id === item.id) return this.#cut(call, withdrawnCall);
    if (call === undefined || sent?.itemId !== item.id) return;
    this.#sent = this.#sent.set(call.id, { ...sent, ...noOutput });
    emit(clearedCall(call));
  }

  /** Calls without an output end with their turn. */
  endAll(why: ErrorObject | undefined): void {
    for (const call of this.#open.values()) this.#cut(call, why);
    this.#open = PersistentMap.empty();
  }

  #announce(item: CallItem, isEnded: boolean, parent: string | undefined): void {
    // If a call's id is used again, the earlier call gets no more output.
    const earlier = this.#open.get(keyOf(item));
    if (earlier !== undefined) this.#cut(earlier, undefined);
    // Some agents report a call's complete arguments at its start, and end the call only with its output.
    const isInputComplete = isEnded || hasCompleteInput(item);
    const isCommand = item.type === 'function_call' && item.kind === 'execute';
    // A terminal can only be opened when its call is announced.
    const isTerminal = isCommand && this.#options.terminals;
    const input = isInputComplete ? itemText(item) : undefined;
    this.#sent = this.#sent.set(item.id, { ...noOutput, isTerminal, runs: isInputComplete, input });
    this.#options.emit(announcedCall(item, { isInputComplete, isTerminal, parent }));
  }

  #change(before: CallItem, item: CallItem, isInputComplete: boolean): void {
    // The call may have got its id, which its outputs name, only now.
    this.#forget(before);
    const sent = this.#sent.get(item.id) ?? { ...noOutput, runs: false };
    const { isTerminal, isOver = false } = sent;
    // Arguments that were replaced are sent again.
    const isInput = isInputComplete || (sent.input !== undefined && hasCompleteInput(item));
    const sendsInput = isInput && sent.input !== itemText(item);
    const begins = isInputComplete && !sent.runs && !isOver;
    const update = changedCall(before, item, { sendsInput, begins, isTerminal });
    if (update !== undefined) this.#options.emit(update);
    if (isInputComplete)
      this.#sent = this.#sent.set(item.id, { ...sent, runs: true, input: itemText(item) });
    else if (sendsInput) this.#sent = this.#sent.set(item.id, { ...sent, input: itemText(item) });
  }

  #cut(call: CallItem, error: ErrorObject | undefined): void {
    const isTerminal = this.isTerminal(call);
    this.#sent = this.#sent.delete(call.id);
    if (this.#open.get(keyOf(call))?.id === call.id) this.#open = this.#open.delete(keyOf(call));
    this.#options.emit(cutOffCall(call, error, { isTerminal }));
  }

  #forget(call: CallItem): void {
    const key = keyOf(call);
    if (this.#open.get(key)?.id === call.id) this.#open = this.#open.delete(key);
  }

  /**
   * The sent state of this output. The sent state of this output. If the output replaces another, it is sent from its
   * start, and no longer to the other's terminal.
   */
  #sentStateOf(call: CallItem, { id }: OutputOf): SentCall {
    const sent = this.#sent.get(call.id) ?? { ...noOutput, runs: false };
    return sent.itemId === undefined || sent.itemId === id ? sent : { ...sent, ...noOutput };
  }

  /** If an output's call was never sent, or already had an output, the output is sent as a call of its own. */
  #announceUnknown(item: OutputOf, parent: string | undefined): CallItem {
    const callId = callIdOf(item);
    const id = this.#ids.get(callId);
    const { open, items } = this.#options.after;
    const known = id === undefined ? undefined : (open.get(id)?.item ?? items.byId.get(id));
    const call: CallItem = {
      type: 'function_call',
      id: item.id,
      callId,
      name: known && isCall(known) ? titleOf(known) : 'tool',
      arguments: '',
      origin: 'agent',
    };
    this.#options.emit(announcedCall(call, { isInputComplete: true, isTerminal: false, parent }));
    this.#open = this.#open.set(callId, call);
    this.#sent = this.#sent.set(call.id, { ...noOutput, runs: true });
    return call;
  }
}

const isCall = (item: OutputItem): item is CallItem =>
  item.type === 'function_call' || item.type === 'script_execution';

const keyOf = (call: CallItem): string => (call.type === 'function_call' ? call.callId : call.id);
const callIdOf = (output: OutputOf): string =>
  output.type === 'function_call_output' ? output.callId : output.scriptId;

const outputSize = (item: OutputOf): Pick<SentCall, 'length' | 'blocks'> => ({
  length: itemText(item).length,
  blocks: ('blocks' in item ? (item.blocks ?? []) : []).length,
});

function isWorthSending(sent: SentCall, { length }: SentCall): boolean {
  if (sent.length === 0) return length > 0;
  return length > sent.length * growth.part + growth.characters;
}
