import {
  type ErrorObject,
  type OutputItem,
  PersistentMap,
  type ResponseState,
  textOf,
} from '@liminal/protocol';
import {
  announced,
  type CallItem,
  changed,
  cleared,
  cutOff,
  ended,
  hasInput,
  type OutputOf,
  shown,
  titleOf,
  type ToolCall,
  type ToolCallUpdate,
} from './tool-calls.ts';

/** The sent state of a call that has not ended, and of its output. */
interface ToldCall {
  /** The call is in progress. */
  readonly runs: boolean;
  /** The arguments, or code, that were sent. */
  readonly input?: string | undefined;
  /** The output's item; undefined before it. */
  readonly itemId: string | undefined;
  /** The sent length of the output, in characters. */
  readonly length: number;
  readonly blocks: number;
  /** The output goes to a terminal: sent output is not repeated. */
  readonly isTerminal: boolean;
  /** The output has ended, though its call's arguments still arrive. */
  readonly isOver?: boolean;
}

/** The calls of a run as they were sent to the client. */
export interface CallsState {
  /** Calls that have not ended, by `callId`; scripts by their item's id. */
  readonly open: PersistentMap<CallItem>;
  /** Every call's item, by `callId`. */
  readonly ids: PersistentMap<string>;
  /** By the id of the call's item. */
  readonly told: PersistentMap<ToldCall>;
}

export const noCalls: CallsState = {
  open: PersistentMap.empty(),
  ids: PersistentMap.empty(),
  told: PersistentMap.empty(),
};

export interface ToldCallsOptions {
  state: CallsState;
  before: ResponseState;
  after: ResponseState;
  /** Whether the client shows output as a terminal. */
  terminals: boolean;
  tell: (update: ToolCall | ToolCallUpdate) => void;
  /** An open item's added text if its text has only grown; undefined otherwise. */
  grown: (item: OutputItem) => string | undefined;
}

/** An output that is sent whole each time is sent again when it has grown by this, so that the total is O(n). */
const growth = { part: 1.25, characters: 256 };

const noOutput = { itemId: undefined, length: 0, blocks: 0, isTerminal: false };

const withdrawnCall: ErrorObject = {
  code: 'WITHDRAWN',
  message: 'The call was withdrawn: the model is asked again.',
};

/** Computes the updates between two states of a run's calls. */
export class ToldCalls {
  readonly #options: ToldCallsOptions;
  #open: PersistentMap<CallItem>;
  #ids: PersistentMap<string>;
  #told: PersistentMap<ToldCall>;

  constructor(options: ToldCallsOptions) {
    this.#options = options;
    ({ open: this.#open, ids: this.#ids, told: this.#told } = options.state);
  }

  get state(): CallsState {
    return { open: this.#open, ids: this.#ids, told: this.#told };
  }

  /** The client's id of a call. */
  idOf(callId: string): string | undefined {
    return this.#ids.get(callId);
  }

  isTerminal(call: CallItem): boolean {
    return this.#told.get(call.id)?.isTerminal === true;
  }

  call(item: CallItem, parent: string | undefined): void {
    const isWhole = !this.#options.after.open.has(item.id) || item.type === 'script_execution';
    const known = this.#options.before.open.get(item.id)?.item;
    if (known === undefined) this.#begin(item, isWhole, parent);
    else if (item.type === 'function_call') this.#change(known as CallItem, item, isWhole);
    this.#ids = this.#ids.set(keyOf(item), item.id);
    if (item.error !== undefined) return this.#cut(item, item.error);
    if (this.#told.get(item.id)?.isOver !== true) this.#open = this.#open.set(keyOf(item), item);
    else if (isWhole) this.#told = this.#told.delete(item.id);
  }

  output(item: OutputOf, parent: string | undefined): void {
    const { after, grown, tell } = this.#options;
    const isOpen = after.open.has(item.id);
    // An output names its call only at its end.
    if (isOpen && familyOf(item) === item.id) return;
    const call = this.#open.get(familyOf(item)) ?? this.#unknown(item, parent);
    const told = this.#toldOf(call, item);
    const news = told.itemId === item.id ? grown(item) : textOf(item);
    const isTerminal = told.isTerminal && news !== undefined;
    if (!isOpen) {
      this.#open = this.#open.delete(familyOf(item));
      this.#told = after.open.has(call.id)
        ? this.#told.set(call.id, { ...told, isOver: true })
        : this.#told.delete(call.id);
      return tell(ended(call, item, { isTerminal, printed: news ?? '' }));
    }
    // Output shows that the call runs, even if its agent has not reported a start.
    const next = { ...told, ...sizeOf(item), itemId: item.id, isTerminal, runs: true };
    const hasNewBlocks = next.blocks !== told.blocks;
    const isDue = isTerminal ? next.length > told.length : isWorthTelling(told, next);
    if (!isDue && !hasNewBlocks) return;
    this.#told = this.#told.set(call.id, next);
    tell(shown(call, item, { isTerminal, printed: news ?? '', begins: !told.runs }));
  }

  /** Withdraws a call, or its output. */
  withdrawn(item: CallItem | OutputOf): void {
    const { tell } = this.#options;
    if (isCall(item)) {
      this.#forget(item);
      return this.#cut(item, withdrawnCall);
    }
    const call = this.#open.get(familyOf(item));
    const told = call && this.#told.get(call.id);
    // The output was sent as a call of its own.
    if (call?.id === item.id) return this.#cut(call, withdrawnCall);
    if (call === undefined || told?.itemId !== item.id) return;
    this.#told = this.#told.set(call.id, { ...told, ...noOutput });
    tell(cleared(call));
  }

  /** Calls without an output end with their turn. */
  end(why: ErrorObject | undefined): void {
    for (const call of this.#open.values()) this.#cut(call, why);
    this.#open = PersistentMap.empty();
  }

  #begin(item: CallItem, isEnded: boolean, parent: string | undefined): void {
    // The same id again: the earlier call gets no output any more.
    const earlier = this.#open.get(keyOf(item));
    if (earlier !== undefined) this.#cut(earlier, undefined);
    // Some agents know a call's whole arguments when it begins, and end it only with its output.
    const isWhole = isEnded || hasInput(item);
    const isCommand = item.type === 'function_call' && item.kind === 'execute';
    // Clients accept a terminal only with a call's announcement.
    const isTerminal = isCommand && this.#options.terminals;
    const input = isWhole ? textOf(item) : undefined;
    this.#told = this.#told.set(item.id, { ...noOutput, isTerminal, runs: isWhole, input });
    this.#options.tell(announced(item, { isWhole, isTerminal, parent }));
  }

  #change(before: CallItem, item: CallItem, isWhole: boolean): void {
    // The call's id, which its outputs name, may have been unknown.
    this.#forget(before);
    const told = this.#told.get(item.id) ?? { ...noOutput, runs: false };
    const { isTerminal, isOver = false } = told;
    // Replaced arguments are sent again.
    const isInput = isWhole || (told.input !== undefined && hasInput(item));
    const tellsInput = isInput && told.input !== textOf(item);
    const begins = isWhole && !told.runs && !isOver;
    const update = changed(before, item, { tellsInput, begins, isTerminal });
    if (update !== undefined) this.#options.tell(update);
    if (isWhole) this.#told = this.#told.set(item.id, { ...told, runs: true, input: textOf(item) });
    else if (tellsInput) this.#told = this.#told.set(item.id, { ...told, input: textOf(item) });
  }

  #cut(call: CallItem, error: ErrorObject | undefined): void {
    const isTerminal = this.isTerminal(call);
    this.#told = this.#told.delete(call.id);
    if (this.#open.get(keyOf(call))?.id === call.id) this.#open = this.#open.delete(keyOf(call));
    this.#options.tell(cutOff(call, error, { isTerminal }));
  }

  #forget(call: CallItem): void {
    const key = keyOf(call);
    if (this.#open.get(key)?.id === call.id) this.#open = this.#open.delete(key);
  }

  /** The sent state of this output. An output that replaces another is sent anew, and no longer to its terminal. */
  #toldOf(call: CallItem, { id }: OutputOf): ToldCall {
    const told = this.#told.get(call.id) ?? { ...noOutput, runs: false };
    return told.itemId === undefined || told.itemId === id ? told : { ...told, ...noOutput };
  }

  /** An output whose call was never sent, or already had an output, is sent as a call of its own. */
  #unknown(item: OutputOf, parent: string | undefined): CallItem {
    const callId = familyOf(item);
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
    this.#options.tell(announced(call, { isWhole: true, isTerminal: false, parent }));
    this.#open = this.#open.set(callId, call);
    this.#told = this.#told.set(call.id, { ...noOutput, runs: true });
    return call;
  }
}

const isCall = (item: OutputItem): item is CallItem =>
  item.type === 'function_call' || item.type === 'script_execution';

const keyOf = (call: CallItem): string => (call.type === 'function_call' ? call.callId : call.id);
const familyOf = (output: OutputOf): string =>
  output.type === 'function_call_output' ? output.callId : output.scriptId;

const sizeOf = (item: OutputOf): Pick<ToldCall, 'length' | 'blocks'> => ({
  length: textOf(item).length,
  blocks: ('blocks' in item ? (item.blocks ?? []) : []).length,
});

function isWorthTelling(told: ToldCall, { length }: ToldCall): boolean {
  if (told.length === 0) return length > 0;
  return length > told.length * growth.part + growth.characters;
}
