import { setTimeout as delay } from 'node:timers/promises';
import {
  type ContentBlock,
  type ErrorObject,
  thrownMessage,
  type OutputItem,
  type Usage,
} from '@liminal/protocol';
import { isoNow } from '../../base/iso-clock.ts';
import { isRecord } from '../../base/parse-line.ts';
import type { TurnEnd, TurnWriter } from '../../base/turn-writer.ts';
import { AnswerWriter } from './answer-writer.ts';
import { withBlocksAsCalls, withCallsAsText } from './calls-as-text.ts';
import { type Citation, sourcesOf } from './citations.ts';
import { type ChosenModel, costOf, type ModelCatalog } from './catalog.ts';
import {
  callIdsOf,
  conversationOf,
  newerHalf,
  summaryMark,
  type TurnItems,
} from './conversation.ts';
import { FailingSteps, withCutNamed } from './failing-steps.ts';
import type { ModelAnswer, ModelRequest } from './model-client.ts';
import { ModelError } from './model-error.ts';
import { type RetrySettings, waitAfter } from './retries.ts';
import { blockIn } from './script-block.ts';
import type { CallResult } from './script-tool.ts';
import type { ToolCalls } from './tool-calls.ts';
import type { WantedCall } from './waiting-calls.ts';
import type { ResumableCall } from './waiting-calls.ts';

export interface ModelTurnOptions {
  writer: TurnWriter;
  chosen: ChosenModel;
  catalog: ModelCatalog;
  effort: string | undefined;
  instructions: string;
  /** All items of the session before this turn. */
  earlier: readonly OutputItem[];
  /** The items of this turn. */
  items: TurnItems;
  tools: ToolCalls;
  retries: RetrySettings;
  maxRounds: number;
  /** The session's cost before this turn, in US dollars; undefined if the cost is not known. */
  costBefore: number | undefined;
  /** Reports what the turn is waiting for, or '' if the turn is not waiting. */
  wait: (activity: string) => void;
}

/** A message that was sent during the turn and that the model has not read yet. */
interface Steered {
  messageId: string;
}

/** The text of the request for a summary. */
const summarize =
  'Summarize our conversation for yourself, as it will be replaced by your summary: what the user wants, what was decided and why, which files matter and what was changed in them, what is done and what is left, and everything else that is needed to go on without asking again. Write only the summary.';
/** The shortest time between two reports of the token counts so far, in ms; the turn's end reports the final counts. */
const usageMs = 1_000;
const notShown = 'The model’s server sent something that Liminal cannot show. It is stored.';
const emptyAnswerNotice =
  'The model has ended its turn without an answer. Ask again, or choose another model.';
/** The most calls of one answer. Further calls are not run; the output of such a call is an error. */
const maxCalls = 128;
/** How often a conversation is halved at most, if it is too long for a summary, or if the server refuses it. */
const maxHalvings = 6;
/** Error codes that a shorter conversation may avoid. */
const refusals = new Set<string>([
  'CONTEXT_LENGTH',
  'CONTENT_FILTER',
  'MODEL_ERROR',
  // Some servers give this error each time because of a part of the conversation.
  'MODEL_UNAVAILABLE',
]);
const nothingSent =
  '(Nothing of our conversation is here: the server of the model refuses each part of it.)';
const nothingSummarized = ({ message }: ModelError): string =>
  `The summary contains nothing of the conversation, because the model’s server refuses each part of it. ${message}`;

/** A complete answer, with the calls that Liminal must run. */
interface TurnAnswer extends ModelAnswer {
  calls: readonly WantedCall[];
}

/** One turn of a model: requests an answer, runs its calls, and repeats this until an answer has no calls. */
export class ModelTurn {
  readonly #options: ModelTurnOptions;
  readonly #abort = new AbortController();
  /** The ids of all items of the session. */
  readonly #taken: Set<string>;
  readonly #steered: Steered[] = [];
  readonly #made = new WeakMap<object, unknown>();
  #usage: Usage | undefined;
  #cost: number | undefined;
  #usageReportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ModelTurnOptions) {
    this.#options = options;
    this.#cost = options.costBefore;
    this.#taken = new Set(options.earlier.map(({ id }) => id));
  }

  /** The session's cost so far, in US dollars. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** Runs the turn, and writes its terminal event. Never rejects. */
  async run(): Promise<void> {
    await this.#untilEnd(async () => this.#converse());
  }

  /** Resumes the calls of the last turn whose questions were open when the turn was cut off. */
  async resume(asked: readonly (ResumableCall & Pick<WantedCall, 'onAsked'>)[]): Promise<void> {
    const calls = asked.map(({ call, ...known }) => {
      const { callId, name, arguments: text } = call;
      const itemId = `${this.#options.writer.turnId}:${callId}`;
      const item = { ...call, id: itemId };
      this.#now.start(item);
      return { callId, name, arguments: text, itemId, item, ...known };
    });
    await this.#untilEnd(async () => {
      await this.#runAll(calls);
      this.#abort.signal.throwIfAborted();
      return this.#converse();
    });
  }

  /**
   * Replaces the conversation by a summary that the model writes.
   * @param wish - The focus of the summary.
   */
  async compact(wish: string): Promise<void> {
    await this.#untilEnd(async () => this.#summarize(wish));
  }

  /**
   * Adds a message. The model receives the message with the next request, and the turn continues at least until that
   * request.
   */
  steer(messageId: string, message: string, blocks: readonly ContentBlock[]): void {
    this.#now.steer(messageId, message, blocks);
    this.#steered.push({ messageId });
  }

  cancel(reason?: string): void {
    this.#now.stop(reason);
    this.#abort.abort();
  }

  get #now(): TurnWriter {
    this.#options.writer.at(isoNow());
    return this.#options.writer;
  }

  async #untilEnd(work: () => Promise<TurnEnd>): Promise<void> {
    let end: TurnEnd;
    try {
      end = await work();
    } catch (error) {
      end = this.#endOf(error);
    }
    const { writer, items, wait } = this.#options;
    wait('');
    const unplaced = writer.takeUnplaced();
    if (unplaced.length > 0) this.#now.notice(notShown, { raw: unplaced });
    for (const id of writer.open) {
      const item = writer.item(id);
      if (item) items.note(item);
    }
    this.#now.end({ ...end, ...(this.#usage && { usage: this.#usage }) });
  }

  #endOf(error: unknown): TurnEnd {
    if (this.#abort.signal.aborted) {
      return { type: 'response_done', status: 'cancelled', finishReason: 'cancelled' };
    }
    if (error instanceof ModelError) {
      const hasPast = this.#options.earlier.some(isOfModel);
      return { type: 'response_error', error: withAdvice(error, hasPast) };
    }
    const what = {
      code: 'INTERNAL',
      message: `Liminal failed in this turn. ${thrownMessage(error)}`,
    };
    return { type: 'response_error', error: what };
  }

  async #converse(): Promise<TurnEnd> {
    const { maxRounds } = this.#options;
    const failing = new FailingSteps();
    for (let round = 1; ; round += 1) {
      this.#takeSteered();
      const answer = await this.#ask(this.#conversation());
      const { calls, isPaused = false, finishReason } = answer;
      const answers = await this.#runAll(calls);
      this.#abort.signal.throwIfAborted();
      const problem = failing.add(calls, answers, finishReason);
      // If a person has sent a message in the meantime, the turn continues, because the message may help.
      if (problem !== undefined && this.#steered.length === 0)
        throw new ModelError('MODEL_ERROR', problem);
      const shouldContinue = calls.length > 0 || isPaused || this.#steered.length > 0;
      if (!shouldContinue) {
        if (!this.#options.items.ended.some(isOfModel)) this.#now.notice(emptyAnswerNotice);
        return { type: 'response_done', status: 'completed', finishReason };
      }
      if (round < maxRounds) continue;
      this.#now.notice(
        `The model was asked ${maxRounds} times in this turn, which is the limit. Send a message to let it continue.`,
      );
      return { type: 'response_done', status: 'completed', finishReason: 'max_turn_requests' };
    }
  }

  async #summarize(wish: string): Promise<TurnEnd> {
    const question = wish === '' ? summarize : `${summarize}\n\nThe user adds: ${wish}`;
    let conversation = conversationOf(this.#options.earlier);
    let refusal: ModelError | undefined;
    for (let halvings = 0; ; halvings += 1) {
      const content = refusal === undefined ? question : `${nothingSent}\n\n${question}`;
      const asked = { type: 'message', id: 'summarize', origin: 'user', content } as const;
      let answer: ModelAnswer;
      try {
        answer = await this.#ask([...conversation, asked], true, halvings === 0 ? undefined : 1);
      } catch (error) {
        const isRefused = error instanceof ModelError && refusals.has(error.code);
        if (!isRefused || conversation.length === 0) throw refusal ?? error;
        const shorter = halvings < maxHalvings ? newerHalf(conversation) : undefined;
        if (shorter === undefined) refusal = error;
        conversation = shorter ?? [];
        continue;
      }
      if (refusal !== undefined) this.#now.notice(nothingSummarized(refusal));
      this.#markSummary();
      return { type: 'response_done', status: 'completed', finishReason: answer.finishReason };
    }
  }

  /** Marks the model's last answer as the summary that replaces the conversation so far. */
  #markSummary(): void {
    const { items, writer } = this.#options;
    const answers = items.ended.filter(
      (item) => item.type === 'message' && item.origin === 'agent' && item.content.trim() !== '',
    );
    if (answers.length === 0) {
      const problem = 'The model gave no summary. The conversation is unchanged.';
      throw new ModelError('MODEL_ERROR', problem);
    }
    writer.at(isoNow());
    const content =
      'From here on, the model knows the earlier conversation only from this summary.';
    writer.notice(content, { raw: summaryMark, compaction: 'completed' });
  }

  #conversation(): OutputItem[] {
    const { earlier, items } = this.#options;
    return conversationOf([...earlier, ...items.ended]);
  }

  #takeSteered(): void {
    for (const { messageId } of this.#steered.splice(0)) this.#now.settle(messageId, 'taken');
  }

  async #runAll(calls: readonly WantedCall[]): Promise<CallResult[]> {
    const { tools } = this.#options;
    const { signal } = this.#abort;
    return Promise.all(calls.map(async (call) => tools.run(call, () => this.#now, signal)));
  }

  /** Requests an answer until one is complete; a broken answer is withdrawn before the next attempt. */
  async #ask(
    conversation: readonly OutputItem[],
    isWithoutCalls = false,
    attempts = this.#options.retries.attempts,
  ): Promise<TurnAnswer> {
    const { chosen, catalog, wait } = this.#options;
    const retries = { ...this.#options.retries, attempts };
    const { client, problem } = chosen.server;
    if (problem !== undefined) throw new ModelError('MODEL_UNAVAILABLE', problem);
    const { signal } = this.#abort;
    for (let attempt = 1; ; attempt += 1) {
      const request = this.#request(conversation, isWithoutCalls);
      const held = new Map<string, OutputItem>();
      const answer = new AnswerWriter(this.#options.writer, this.#taken, isoNow, held);
      try {
        const given = await client.answer(request, answer, signal);
        wait('');
        this.#count(given);
        const calls = given.calls.map((call) => ({ ...call, item: held.get(call.itemId) }));
        for (const { itemId } of calls) held.delete(itemId);
        // The model's server runs the calls that are still open. The server has paused, and the results of these calls
        // are part of the next answer.
        for (const item of held.values()) this.#now.done(item.id, item);
        this.#cite(given.citations ?? []);
        const more = isWithoutCalls ? [] : this.#callsInWords(answer, given);
        const wanted = withCutNamed([...calls, ...more], given.finishReason).map(bounded);
        return { ...given, calls: wanted };
      } catch (error) {
        answer.flush();
        if (isLackOfTools(error) && catalog.callsTools(chosen)) {
          catalog.callsNoTools(chosen);
          continue;
        }
        const ms = signal.aborted ? undefined : waitAfter(error, attempt, retries);
        if (ms === undefined) throw error;
        answer.withdraw('retried');
        wait(`${thrownMessage(error)} Retrying in ${Math.ceil(ms / 1_000)} s.`);
        await delay(ms, undefined, { signal });
      }
    }
  }

  /** Shows people the citations that the answer's text does not contain. */
  #cite(citations: readonly Citation[]): void {
    if (citations.length === 0) return;
    const texts = this.#options.items.ended.flatMap((item) =>
      item.type === 'message' && item.origin !== 'user' ? item.content : [],
    );
    const sources = sourcesOf(citations, texts);
    if (sources !== undefined) this.#now.notice(sources);
  }

  /** Returns the next request. For a model without tools, the instructions explain how to write a script instead. */
  #request(conversation: readonly OutputItem[], isWithoutCalls: boolean): ModelRequest {
    const { chosen, catalog, instructions, effort, tools } = this.#options;
    const callsTools = catalog.callsTools(chosen);
    const more = callsTools ? undefined : tools.instructions;
    return {
      model: chosen.model,
      instructions: more === undefined ? instructions : `${instructions}\n\n${more}`,
      conversation: callsTools ? withBlocksAsCalls(conversation) : withCallsAsText(conversation),
      ...(!callsTools && { callIds: callIdsOf(conversation) }),
      tools: callsTools ? tools.definitions : [],
      effort,
      made: this.#made,
      ...(isWithoutCalls && { isWithoutCalls }),
    };
  }

  /**
   * If the model has instructions for scripts: starts the script block at the end of the model's answer as a call, and
   * returns the call.
   */
  #callsInWords({ written }: AnswerWriter, { finishReason }: ModelAnswer): WantedCall[] {
    const { chosen, catalog, items, tools } = this.#options;
    if (catalog.callsTools(chosen) || tools.instructions === undefined) return [];
    const block = blockIn(
      items.ended.filter(({ id }) => written.includes(id)),
      finishReason,
    );
    if (block === undefined) return [];
    this.#now.start(block.item);
    return [block];
  }

  #count({ usage: used, searches }: ModelAnswer): void {
    if (used === undefined) return;
    const { chosen, catalog } = this.#options;
    const contextWindow = catalog.windowOf(chosen);
    const before = this.#usage;
    const price = costOf(chosen, used, searches);
    if (price !== undefined) this.#cost = (this.#cost ?? 0) + price;
    this.#usage = {
      inputTokens: (before?.inputTokens ?? 0) + used.inputTokens,
      outputTokens: (before?.outputTokens ?? 0) + used.outputTokens,
      ...sumOf('cacheReadInputTokens', before, used),
      ...sumOf('cacheCreationInputTokens', before, used),
      ...(this.#cost !== undefined && { costUsd: this.#cost }),
      contextTokens: used.inputTokens + used.outputTokens,
      ...(contextWindow !== undefined && { contextWindow }),
    };
    const now = performance.now();
    if (now - this.#usageReportedAt < usageMs) return;
    this.#usageReportedAt = now;
    this.#now.write({ type: 'usage_update', usage: this.#usage });
  }
}

/** @param at - The index of the call in its answer, from 0. */
function bounded(call: WantedCall, at: number): WantedCall {
  if (at < maxCalls) return call;
  const problem = `Not run: one answer may make at most ${maxCalls} calls. Make this call again with fewer others.`;
  return { ...call, problem };
}

const isLackOfTools = (error: unknown): boolean =>
  error instanceof ModelError && error.code === 'NO_TOOLS';

function sumOf(
  field: 'cacheReadInputTokens' | 'cacheCreationInputTokens',
  before: Usage | undefined,
  used: Usage,
): Partial<Usage> {
  const sum = (before?.[field] ?? 0) + (used[field] ?? 0);
  return sum > 0 ? { [field]: sum } : {};
}

/** Returns whether people see the item as work of the model. */
const isOfModel = (item: OutputItem): boolean =>
  item.type === 'function_call' ||
  (item.type === 'message' && item.origin === 'agent' && item.content.trim() !== '');

function withAdvice(error: ModelError, hasPast: boolean): ErrorObject {
  const { code, message, details, asObject } = error;
  if (code === 'CONTEXT_LENGTH') {
    const advice =
      'Send /compact to continue from a summary, or choose a model with a larger context.';
    return { ...asObject, message: `${message} ${advice}` };
  }
  // The server may refuse a part of the history, and then refuses each later message as well.
  const status = isRecord(details) ? details['status'] : undefined;
  const isOfHistory = code === 'CONTENT_FILTER' || (code === 'MODEL_ERROR' && status === 400);
  if (!hasPast || !isOfHistory) return asObject;
  const advice = 'If that happens with each message, send /compact to continue from a summary.';
  return { ...asObject, message: `${message} ${advice}` };
}
