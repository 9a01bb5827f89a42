import type { AnswerWriter } from '../../../loop/answer-writer.ts';
import type { ModelCall } from '../../../loop/model-client.ts';
import { ModelError } from '../../../loop/model-error.ts';
import type { CallIds } from '../call-ids.ts';
import { GrowingObject } from './growing-object.ts';
import type { CallPiece } from './wire.ts';

/** The most calls of one answer; limited because each piece is compared with every call. */
const mostCalls = 1_000;

interface StreamedCall {
  index: number | undefined;
  /** The server's id for the call, from the first piece that contains an id. */
  ownId: string | undefined;
  callId: string;
  /** The id of the call's item; undefined until the item has begun. */
  itemId: string | undefined;
  name: string;
  arguments: string;
  /** The arguments as JSON. */
  input: GrowingObject;
  /** The other fields of the call's pieces. */
  more: Record<string, unknown>;
}

/**
 * Assembles the tool calls of one answer from their pieces. Servers differ in how a piece refers to its call: by an
 * index; by an id in the first piece, the second, all pieces or none; by a name in one piece or in every piece.
 */
export class ToolCalls {
  readonly #writer: AnswerWriter;
  readonly #ids: CallIds;
  readonly #calls: StreamedCall[] = [];

  constructor(writer: AnswerWriter, ids: CallIds) {
    this.#writer = writer;
    this.#ids = ids;
  }

  /** Reads the pieces of one chunk. @throws ModelError if the answer has too many calls. */
  read(pieces: readonly CallPiece[]): void {
    const touched = new Set<StreamedCall>();
    for (const piece of pieces) {
      const call = this.#find(piece, touched) ?? this.#add(piece);
      touched.add(call);
      this.#grow(call, piece);
    }
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /**
   * Ends the items of all calls.
   * @param more - Raw data that is stored with the first call.
   */
  finish(more: Record<string, unknown> = {}): ModelCall[] {
    Object.assign(this.#calls[0]?.more ?? {}, more);
    return this.#calls.map((call) => {
      const { callId, ownId, name, more: rest } = call;
      const itemId = call.itemId ?? this.#start(call);
      const own = { ...(ownId !== undefined && ownId !== callId && { id: ownId }), ...rest };
      this.#writer.done(itemId, Object.keys(own).length > 0 ? { raw: { openai: own } } : {});
      return { callId, name, arguments: call.arguments, itemId };
    });
  }

  /** Returns the call that a piece continues; undefined if the piece begins a call. */
  #find(piece: CallPiece, touched: ReadonlySet<StreamedCall>): StreamedCall | undefined {
    const { index, id, name, text } = readCallDelta(piece);
    const isAt = (call: StreamedCall): boolean =>
      index === undefined || call.index === undefined || call.index === index;
    const named = id && this.#calls.findLast((call) => call.ownId === id && isAt(call));
    if (named) return named;
    const call = this.#calls.findLast(isAt);
    // A piece without a name begins no call, even if its id is new, because some servers invent an id for each chunk.
    if (call === undefined || name === '') return call;
    const isOther =
      (call.name !== '' && call.name !== name) ||
      (id !== undefined && call.ownId !== undefined) ||
      (index === undefined && touched.has(call)) ||
      // The server sends no indexes, and this piece begins a second call of the same tool.
      (text !== '' && call.input.isComplete);
    return isOther ? undefined : call;
  }

  #add(piece: CallPiece): StreamedCall {
    if (this.#calls.length === mostCalls) {
      const problem = `The model asked for more than ${mostCalls} tool calls in one answer.`;
      throw new ModelError('MODEL_ERROR', problem);
    }
    const { index, id } = readCallDelta(piece);
    const callId = this.#ids.take(id);
    const input = new GrowingObject();
    const face = { index, ownId: id, callId, itemId: undefined, name: '' };
    const call = { ...face, arguments: '', input, more: {} };
    this.#calls.push(call);
    return call;
  }

  #grow(call: StreamedCall, piece: CallPiece): void {
    const { id, name, text, more } = readCallDelta(piece);
    call.ownId ??= id;
    call.arguments += text;
    call.input.add(text);
    Object.assign(call.more, more);
    if (call.name === '') call.name = name;
    if (call.itemId !== undefined) this.#writer.append(call.itemId, text);
    else if (call.name !== '') this.#start(call);
  }

  #start(call: StreamedCall): string {
    const { callId, name } = call;
    const face = { type: 'function_call', id: callId, callId, name, origin: 'agent' } as const;
    call.itemId = this.#writer.start({ ...face, arguments: call.arguments });
    return call.itemId;
  }
}

interface CallDelta {
  index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  more: Record<string, unknown>;
}

function readCallDelta({
  index,
  id,
  function: called,
  type: _type,
  ...more
}: CallPiece): CallDelta {
  const { name, arguments: input, ...rest } = called ?? { arguments: undefined };
  return {
    index: index ?? undefined,
    id: id || undefined,
    name: name ?? '',
    text: argumentsText(input),
    more: { ...more, ...rest },
  };
}

function argumentsText(input: unknown): string {
  if (typeof input === 'string') return input;
  // Some servers send the arguments as an object instead of a JSON string.
  return input === undefined || input === null ? '' : JSON.stringify(input);
}
