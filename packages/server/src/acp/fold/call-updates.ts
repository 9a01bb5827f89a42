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

/** The state in which a call that has not ended, and its output, were sent to the client. */
interface SentCall {
  /** Whether the call was sent as in progress. */
  readonly runs: boolean;
  /** The arguments, or the code of a script, that were sent. */
  readonly input?: string | undefined;
  /** The id of the output's item; undefined while the call has no output. */
  readonly itemId: string | undefined;
  /** How many characters of the output were sent. */
  readonly length: number;
  readonly blocks: number;
  /** Whether the output is sent to a terminal. Output that was sent to a terminal is not repeated. */
  readonly isTerminal: boolean;
  /** True if the output has ended while arguments of its call are still arriving. */
  readonly isOver?: boolean;
}

/** The calls of a run, and what was sent to the client about each call. */
export interface CallsState {
  /** Calls that have not ended. The key is the `callId`; for scripts, the id of the item. */
  readonly open: PersistentMap<CallItem>;
  /** The item of every call. The key is the `callId`. */
  readonly ids: PersistentMap<string>;
  /** The calls that were sent. The key is the id of the call's item. */
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
  /** The text that was added to an open item. Undefined if the text has changed in another way. */
  addedText: (item: OutputItem) => string | undefined;
}

/**
 * An output that is always sent completely is sent again only when it has grown by at least this share and this many
 * characters, so that the total size of the updates is O(n).
 */
const growth = { part: 1.25, characters: 256 };

const noOutput = { itemId: undefined, length: 0, blocks: 0, isTerminal: false };

const withdrawnCall: ErrorObject = {
  code: 'WITHDRAWN',
  message: 'The call was withdrawn: the model is asked again.',
};

/** Computes the updates that lead from one state of a run's calls to the next. */
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

  /** Returns the id that the client uses for a call. */
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
    // The id of the call is not known yet while an output is open.
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
    // Output shows that the call is running, even if the agent has not reported the start of the call.
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
    // The output was sent as a call of its own.
    if (call?.id === item.id) return this.#cut(call, withdrawnCall);
    if (call === undefined || sent?.itemId !== item.id) return;
    this.#sent = this.#sent.set(call.id, { ...sent, ...noOutput });
    emit(clearedCall(call));
  }

  /** Ends the calls that have no output when the turn ends. */
  endAll(why: ErrorObject | undefined): void {
    for (const call of this.#open.values()) this.#cut(call, why);
    this.#open = PersistentMap.empty();
  }

  #announce(item: CallItem, isEnded: boolean, parent: string | undefined): void {
    // If a call's id is used again, the earlier call with this id gets no more output.
    const earlier = this.#open.get(keyOf(item));
    if (earlier !== undefined) this.#cut(earlier, undefined);
    // Some agents report the complete arguments of a call when the call starts, and end the call only together with its
    // output.
    const isInputComplete = isEnded || hasCompleteInput(item);
    const isCommand = item.type === 'function_call' && item.kind === 'execute';
    // A terminal can only be opened in the update that announces the call.
    const isTerminal = isCommand && this.#options.terminals;
    const input = isInputComplete ? itemText(item) : undefined;
    this.#sent = this.#sent.set(item.id, { ...noOutput, isTerminal, runs: isInputComplete, input });
    this.#options.emit(announcedCall(item, { isInputComplete, isTerminal, parent }));
  }

  #change(before: CallItem, item: CallItem, isInputComplete: boolean): void {
    // The call may have received its id only now. The call's outputs refer to this id.
    this.#forget(before);
    const sent = this.#sent.get(item.id) ?? { ...noOutput, runs: false };
    const { isTerminal, isOver = false } = sent;
    // If arguments were replaced, send them again.
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
   * Returns what was sent about this output. If the output replaces another output, it is sent from its start, and no
   * longer to the terminal of the replaced output.
   */
  #sentStateOf(call: CallItem, { id }: OutputOf): SentCall {
    const sent = this.#sent.get(call.id) ?? { ...noOutput, runs: false };
    return sent.itemId === undefined || sent.itemId === id ? sent : { ...sent, ...noOutput };
  }

  /** If the call of an output was never sent, or already had an output, the output is sent as a call of its own. */
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
