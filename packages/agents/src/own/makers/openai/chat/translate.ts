/** Translates chunks of Chat Completions to items of a turn: seed 001, appendix A.5. */
import type { Usage } from '@liminal/protocol';
import { isRecord } from '../../../../base/parse-line.ts';
import type { AnswerWriter } from '../../../loop/answer-writer.ts';
import { type Citation, citationsIn, withCitations } from '../../../loop/citations.ts';
import type { ModelAnswer, ModelCall } from '../../../loop/model-client.ts';
import { CallIds } from '../call-ids.ts';
import { brokeOff, endedInError, errorOfComplaint, readComplaint } from '../errors.ts';
import { ToolCalls } from './tool-calls.ts';
import { ChatUsage, Chunk, type Delta } from './wire.ts';

/** The fields whose pieces are joined; other fields arrive whole. */
const grown = ['text', 'summary', 'data'];

type TextKind = 'message' | 'reasoning';

/** Writes the answer of one Chat Completions stream. */
export class ChatTranslator {
  readonly #writer: AnswerWriter;
  readonly #calls: ToolCalls;
  readonly #details = new ReasoningDetails();
  /** The open text item. A text of a different kind, or a call, ends the item. */
  #text: { kind: TextKind; itemId: string } | undefined;
  /** The prefix for the ids of text items: the server's id of the answer, once that id is known. */
  #id = 'answer';
  #citations: Citation[] = [];
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  #isRefusal = false;

  constructor(writer: AnswerWriter, ids: CallIds = new CallIds()) {
    this.#writer = writer;
    this.#calls = new ToolCalls(writer, ids);
  }

  /**
   * Reads a chunk of the answer.
   * @throws ModelError if the chunk reports that the answer failed.
   */
  read(data: unknown): void {
    if (isRecord(data) && (data['error'] != null || data['object'] === 'error')) {
      throw errorOfComplaint(readComplaint(data));
    }
    const chunk = Chunk.safeParse(data).data;
    if (chunk === undefined) return this.#writer.keep(data);
    if (chunk.id) this.#id = chunk.id;
    if (chunk.usage != null) this.#usage = usageOf(chunk.usage);
    for (const choice of chunk.choices ?? []) {
      // The request asked for only one answer.
      if ((choice.index ?? 0) !== 0) this.#writer.keep(choice);
      else {
        this.#readChoice(choice.delta ?? choice.message, choice.finish_reason);
        if (choice['error'] != null) throw errorOfComplaint(readComplaint(choice));
        if (choice.finish_reason === 'error') throw endedInError();
      }
    }
  }

  /**
   * Returns the whole answer, after its stream has ended.
   * @param isMarked - Whether the server has marked the end.
   * @throws ModelError if the answer is not complete.
   */
  end(isMarked = false): ModelAnswer {
    if (this.#finishReason === undefined && !isMarked) throw brokeOff();
    const calls = this.#close();
    const reason = this.#finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop');
    const finishReason = this.#isRefusal ? 'refusal' : reason;
    return { calls, finishReason, usage: this.#usage, ...withCitations(this.#citations) };
  }

  #readChoice(delta: Delta | null | undefined, finishReason: string | null | undefined): void {
    if (delta != null) this.#readDelta(delta);
    if (!finishReason) return;
    this.#finishReason = finishReason;
    this.#close();
  }

  #readDelta(delta: Delta): void {
    const { content, reasoning_content, reasoning, refusal, tool_calls, function_call } = delta;
    const { role: _role, reasoning_details: details, ...more } = delta;
    if (Array.isArray(details)) this.#details.read(details);
    const { annotations } = delta;
    if (Array.isArray(annotations)) this.#citations.push(...citationsIn(annotations));
    this.#readText('reasoning', reasoning_content);
    // Some servers send the same reasoning in both fields.
    if (reasoning !== reasoning_content) this.#readText('reasoning', reasoning);
    this.#readText('message', content);
    if (typeof refusal === 'string' && refusal !== '') this.#isRefusal = true;
    this.#readText('message', refusal);
    const pieces = tool_calls ?? (function_call == null ? [] : [{ function: function_call }]);
    if (pieces.length > 0) {
      this.#closeText();
      this.#calls.read(pieces);
    }
    this.#keepRest(more);
  }

  /** Reads content that is a text or a list of parts; some of the parts may have text. */
  #readText(kind: TextKind, content: unknown): void {
    if (content === undefined || content === null) return;
    if (typeof content === 'string') return this.#appendText(kind, content);
    if (!Array.isArray(content)) return this.#writer.keep({ [kind]: content });
    for (const part of content as unknown[]) {
      if (isRecord(part) && typeof part['text'] === 'string') this.#appendText(kind, part['text']);
      // Mistral's reasoning.
      else if (isRecord(part) && part['type'] === 'thinking') {
        this.#readText('reasoning', part['thinking']);
      } else this.#writer.keep(part);
    }
  }

  #appendText(kind: TextKind, text: string): void {
    if (text === '') return;
    if (this.#text?.kind !== kind) {
      this.#closeText();
      const item = { type: kind, id: `${this.#id}:${kind}`, content: '', origin: 'agent' } as const;
      this.#text = { kind, itemId: this.#writer.start(item) };
    }
    this.#writer.append(this.#text.itemId, text);
  }

  #keepRest(delta: Record<string, unknown>): void {
    const rest = Object.entries(delta).filter(
      ([name, value]) => !translated.has(name) && !isEmpty(value),
    );
    if (rest.length > 0) this.#writer.keep(Object.fromEntries(rest));
  }

  #closeText(): void {
    if (this.#text !== undefined) this.#writer.done(this.#text.itemId);
    this.#text = undefined;
  }

  #close(): ModelCall[] {
    const details = this.#details.take();
    const more = details.length > 0 ? { reasoning_details: details } : undefined;
    // The reasoning details of a call are sent back to the server; those of a text answer are only stored.
    if (more !== undefined && this.#calls.isEmpty) this.#writer.keep(more);
    this.#closeText();
    return this.#calls.finish(more);
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

const translated = new Set([
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'tool_calls',
  'function_call',
]);

function usageOf(reported: unknown): Usage | undefined {
  const usage = ChatUsage.safeParse(reported).data;
  if (usage === undefined) return undefined;
  const { cached_tokens: cached, cache_write_tokens: written } = usage.prompt_tokens_details ?? {};
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    ...(cached != null && { cacheReadInputTokens: cached }),
    ...(written != null && { cacheCreationInputTokens: written }),
  };
}

/** OpenRouter's `reasoning_details`: reasoning in the form of the model's maker, partly encrypted, in pieces. */
class ReasoningDetails {
  readonly #parts = new Map<unknown, Record<string, unknown>>();

  /** @param pieces - The pieces of one chunk. */
  read(pieces: readonly unknown[]): void {
    for (const piece of pieces) {
      if (!isRecord(piece)) continue;
      const { index = this.#parts.size, type } = piece;
      const place = JSON.stringify([index, type]);
      const before = this.#parts.get(place) ?? {};
      const known = Object.entries(piece).filter(([, value]) => value != null);
      const sums = known.map(([name, value]): [string, unknown] => {
        const first = before[name];
        const isGrown = grown.includes(name) && typeof first === 'string';
        return [name, isGrown && typeof value === 'string' ? first + value : value];
      });
      this.#parts.set(place, { ...before, ...Object.fromEntries(sums) });
    }
  }

  /** Returns the details collected so far, and clears them. */
  take(): Record<string, unknown>[] {
    const parts = [...this.#parts.values()];
    this.#parts.clear();
    return parts;
  }
}
