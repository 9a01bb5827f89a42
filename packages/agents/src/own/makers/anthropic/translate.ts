/**
 * Translates answers of Anthropic's Messages API to items of a turn. Source: the API's reference of streaming messages, and
 * the types of its SDK 1.12.
 */
import type { OutputItem, Usage } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import type { AnswerWriter } from '../../loop/answer-writer.ts';
import { type Citation, citationsIn, withCitations } from '../../loop/citations.ts';
import type { ModelAnswer, ModelCall } from '../../loop/model-client.ts';
import { brokenOff, contextFull, endedInError, streamedError } from './errors.ts';
import {
  describeCall,
  heldByItem,
  inputJson,
  isCall,
  itemOf,
  stringField,
} from './translate-block.ts';
import { UsageCount } from './usage-count.ts';

/** An event of the stream, as the API sends it. */
export interface MessagesEvent {
  type: string;
}

type Fields = Record<string, unknown>;

interface OpenBlock {
  /** The block with the fields of its start event. */
  given: Fields;
  /** Undefined for a text block without text so far, because the block may stay empty. */
  itemId: string | undefined;
  /** The streamed input of a tool call. */
  json: string;
  signature: string;
  citations: unknown[];
  /** Deltas of unknown types. */
  unknown: unknown[];
}

/** Writes the items of one answer, event by event. Pure: does not use a clock or a connection. */
export class AnswerTranslator {
  readonly #writer: AnswerWriter;
  /** Open blocks, by index. */
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #calls: ModelCall[] = [];
  readonly #citations: Citation[] = [];
  readonly #usage = new UsageCount();
  #messageId = 'message';
  #stopReason: string | undefined;
  #refusal: Fields | undefined;
  #isComplete = false;

  constructor(writer: AnswerWriter) {
    this.#writer = writer;
  }

  /** Whether the stream has reported its end. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The token counts, if they are known. */
  get usage(): Usage | undefined {
    return this.#usage.usage;
  }

  /** Reads an event. Throws ModelError for an error that the server reports in its stream. */
  read(event: MessagesEvent): void {
    const fields: Fields = { ...event };
    const index = typeof fields['index'] === 'number' ? fields['index'] : 0;
    switch (event.type) {
      case 'message_start':
        return this.#begin(recordIn(fields, 'message'));
      case 'content_block_start':
        this.#start(index, recordIn(fields, 'content_block'));
        return;
      case 'content_block_delta':
        return this.#grow(index, recordIn(fields, 'delta'));
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta':
        return this.#change(recordIn(fields, 'delta'), fields['usage']);
      case 'message_stop':
        return this.#end();
      case 'ping':
        return;
      case 'error':
        throw streamedError(fields['error']);
      default:
        this.#writer.keep({ anthropicEvent: event });
    }
  }

  /**
   * Returns the result of the answer. Throws ModelError if the stream ended too early, or if the model's context was
   * full.
   */
  answer(): ModelAnswer {
    if (!this.#isComplete) throw brokenOff();
    if (this.#stopReason === 'error') throw endedInError();
    if (this.#stopReason === 'model_context_window_exceeded') throw contextFull();
    const calls = [...this.#calls];
    return {
      calls,
      finishReason: this.#stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
      usage: this.usage,
      ...(this.#usage.searches !== undefined && { searches: this.#usage.searches }),
      ...withCitations(this.#citations),
      ...(this.#stopReason === 'pause_turn' && { isPaused: true }),
    };
  }

  #begin(message: Fields): void {
    this.#messageId = stringField(message, 'id') ?? this.#messageId;
    this.#usage.read(message['usage']);
  }

  #start(index: number, given: Fields): OpenBlock {
    this.#stop(index);
    // A text becomes an item only with its first word.
    if (given['type'] === 'text') this.#writer.countPart();
    const block: OpenBlock = {
      given,
      itemId: undefined,
      json: '',
      signature: stringField(given, 'signature') ?? '',
      citations: listIn(given, 'citations'),
      unknown: [],
    };
    this.#blocks.set(index, block);
    if (given['type'] !== 'text') this.#open(index, block);
    this.#append(index, block, stringField(given, 'text') ?? stringField(given, 'thinking') ?? '');
    return block;
  }

  #open(index: number, block: OpenBlock): string {
    const item = itemOf(
      block.given,
      stringField(block.given, 'id') ?? `${this.#messageId}:${index}`,
    );
    block.itemId = this.#writer.start(item);
    return block.itemId;
  }

  #append(index: number, block: OpenBlock, text: string): void {
    if (text !== '') this.#writer.append(block.itemId ?? this.#open(index, block), text);
  }

  #grow(index: number, delta: Fields): void {
    const block = this.#blocks.get(index) ?? this.#unannounced(index, delta);
    switch (delta['type']) {
      case 'text_delta':
        return this.#append(index, block, stringField(delta, 'text') ?? '');
      case 'thinking_delta':
        return this.#append(index, block, stringField(delta, 'thinking') ?? '');
      case 'input_json_delta': {
        const json = stringField(delta, 'partial_json') ?? '';
        block.json += json;
        return this.#append(index, block, json);
      }
      case 'signature_delta':
        block.signature += stringField(delta, 'signature') ?? '';
        return;
      case 'citations_delta':
        block.citations.push(delta['citation']);
        return;
      default:
        block.unknown.push(delta);
    }
  }

  /** Starts a block at its first delta, because some servers send no start event. */
  #unannounced(index: number, delta: Fields): OpenBlock {
    return this.#start(index, { type: delta['type'] === 'thinking_delta' ? 'thinking' : 'text' });
  }

  #stop(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    this.#citations.push(...citationsIn(block.citations));
    if (isCall(block.given) && block.json === '') {
      block.json = inputJson(block.given);
      this.#append(index, block, block.json);
    }
    const raw = rawOf(block);
    if (block.itemId === undefined && raw === undefined) return;
    const itemId = block.itemId ?? this.#open(index, block);
    const item = this.#writer.item(itemId);
    this.#writer.done(itemId, {
      ...describeCall(block.given, block.json),
      ...(raw !== undefined && { raw }),
    });
    if (block.given['type'] !== 'tool_use') return;
    const name = stringField(block.given, 'name') ?? 'unknown';
    const callId = item?.type === 'function_call' ? item.callId : itemId;
    this.#calls.push({ callId, name, arguments: block.json, itemId });
  }

  #change(delta: Fields, usage: unknown): void {
    this.#usage.read(usage);
    this.#stopReason = stringField(delta, 'stop_reason') ?? this.#stopReason;
    if (isRecord(delta['stop_details'])) this.#refusal = delta['stop_details'];
  }

  #end(): void {
    for (const index of this.#blocks.keys()) this.#stop(index);
    if (this.#refusal !== undefined && !this.#isComplete) this.#explain(this.#refusal);
    this.#isComplete = true;
  }

  /** Shows people the server's reason for a refusal; the reason is not the model's text. */
  #explain(refusal: Fields): void {
    const reason = stringField(refusal, 'explanation') ?? stringField(refusal, 'category');
    this.#writer.add({
      type: 'message',
      id: `${this.#messageId}:refusal`,
      origin: 'system',
      content: reason === undefined ? 'The model refused.' : `The model refused: ${reason}`,
      raw: { anthropic: refusal },
    });
  }
}

/** Returns the fields of a block for which items have no field; undefined if there are none. */
function rawOf({ given, signature, citations, unknown }: OpenBlock): OutputItem['raw'] {
  const rest = Object.fromEntries(
    Object.entries(given).filter(([name]) => !heldByItem(given, name)),
  );
  const more = {
    ...(given['type'] === 'thinking' && { signature }),
    ...(citations.length > 0 && { citations }),
  };
  const anthropic = { ...rest, ...more };
  const isPlain = given['type'] === 'text' || given['type'] === 'tool_use';
  if (isPlain && Object.keys(anthropic).length === 1 && unknown.length === 0) return undefined;
  return { anthropic, ...(unknown.length > 0 && { deltas: unknown }) };
}

function listIn(fields: Fields, name: string): unknown[] {
  const value: unknown = fields[name];
  return Array.isArray(value) ? [...(value as unknown[])] : [];
}

const recordIn = (fields: Fields, name: string): Fields => {
  const value = fields[name];
  return isRecord(value) ? value : {};
};
