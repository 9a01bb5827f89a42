/** Converts a stored run to its spans: one tree of spans for each turn. */
import { pairAnswers } from '../folds/pair-answers.ts';
import type { OutputItem } from '../items.ts';
import type { Response } from '../response.ts';
import { readTraceparent } from '../trace-context.ts';
import {
  approvalAttributes,
  type Attributes,
  messageContent,
  modelCallAttributes,
  toolAttributes,
  toolContent,
  turnAttributes,
} from './names.ts';
import { spanIdOf, traceIdOf } from './span-ids.ts';

/** A span as plain data, independent of any exporter. */
export interface Span {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The parent's span id; absent for the root of a trace. */
  parentSpanId?: string;
  name: string;
  kind: 'internal' | 'client' | 'server';
  /** Milliseconds since the epoch. */
  startedAt: number;
  endedAt: number;
  attributes: Attributes;
  hasFailed: boolean;
}

export interface SpanOptions {
  /** Whether spans include prompts, answers, and the arguments and results of tools. */
  captureContent?: boolean | undefined;
}

type CallItem = Extract<OutputItem, { type: 'function_call' | 'script_execution' }>;
type ModelOutput = [OutputItem, ...OutputItem[]];
type Approval = Extract<OutputItem, { type: 'approval' }>;

/**
 * Returns the turn's span, followed by the spans in it, ordered by start: model calls, tools and scripts, and times of
 * waiting for people. The same run always has the same spans. History does not store when a model call begins and ends.
 * Therefore consecutive output of a model, up to the next tool result or message of a person, counts as one call; the
 * span of this call is marked as inferred.
 */
export function runSpans(run: Response, { captureContent = false }: SpanOptions = {}): Span[] {
  const fold = new RunSpans(run, captureContent);
  const within = [...fold.modelCalls(), ...fold.calls(), ...fold.approvals()];
  return [fold.turn(), ...within.toSorted((a, b) => a.startedAt - b.startedAt)];
}

class RunSpans {
  readonly #run: Response;
  readonly #content: boolean;
  readonly #traceId: string;
  readonly #turnSpanId: string;
  /** The answers of calls, by the call's item id. */
  readonly #answers: ReadonlyMap<string, OutputItem>;
  /** The span ids of calls, by call id and by item id. */
  readonly #callSpans: ReadonlyMap<string, string>;

  constructor(run: Response, content: boolean) {
    this.#run = run;
    this.#content = content;
    const place = readTraceparent(run.traceContext?.traceparent);
    this.#traceId = place?.traceId ?? traceIdOf(run.id);
    this.#turnSpanId = place?.spanId ?? spanIdOf(run.id);
    const byId = new Map(run.outputItems.map((item) => [item.id, item]));
    const pairs = pairAnswers(run.outputItems).entries();
    this.#answers = new Map(
      pairs.flatMap(([answer, call]) => {
        const item = byId.get(answer);
        return item ? [[call, item] as const] : [];
      }),
    );
    this.#callSpans = new Map(
      run.outputItems.filter(isCall).flatMap((call) => {
        const span = this.#idOf(call.id);
        return [[call.id, span] as const, [callIdOf(call), span] as const];
      }),
    );
  }

  turn(): Span {
    const { createdAt, updatedAt, providerId, parentSpanId, status, outputItems } = this.#run;
    const messages = outputItems.filter((item) => item.type === 'message');
    const by = (origin: string) =>
      messages.filter((item) => item.origin === origin).map(({ content }) => content);
    return {
      traceId: this.#traceId,
      spanId: this.#turnSpanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name: `invoke_agent ${providerId}`,
      kind: 'internal',
      startedAt: createdAt,
      endedAt: updatedAt,
      attributes: {
        ...turnAttributes(this.#run),
        ...(this.#content && messageContent(by('user'), by('agent'))),
      },
      hasFailed: status === 'error',
    };
  }

  modelCalls(): Span[] {
    const bySpeaker = Map.groupBy(this.#run.outputItems, ({ parentCallId }) => parentCallId);
    const attributes = modelCallAttributes(this.#run, true);
    return [...bySpeaker].flatMap(([parentCallId, items]) =>
      splitModelOutput(items).map((output) => ({
        ...this.#within(`model:${output[0].id}`, parentCallId),
        name: `chat ${this.#run.modelId}`,
        kind: 'client' as const,
        startedAt: this.#startOf(output[0]),
        endedAt: output.reduce((end, item) => Math.max(end, this.#modelEndOf(item)), 0),
        attributes,
        hasFailed: output.some((item) => !isCall(item) && item.error !== undefined),
      })),
    );
  }

  calls(): Span[] {
    return this.#run.outputItems.filter(isCall).map((call) => {
      const answer = this.#answers.get(call.id);
      const failure = failureReason(call, answer);
      const name = call.type === 'function_call' ? call.name : 'script';
      const args = call.type === 'function_call' ? call.arguments : call.code;
      return {
        ...this.#within(call.id, call.parentCallId),
        name: `execute_tool ${name}`,
        kind: 'internal' as const,
        startedAt: this.#startOf(call),
        endedAt: answer || call.error ? this.#endOf(answer ?? call) : this.#run.updatedAt,
        attributes: {
          ...toolAttributes(name, callIdOf(call), failure),
          ...(this.#content && toolContent(args, answerText(answer))),
        },
        hasFailed: failure !== undefined,
      };
    });
  }

  approvals(): Span[] {
    return this.#run.outputItems
      .filter((item): item is Approval => item.type === 'approval')
      .map((item) => ({
        ...this.#within(item.id, item.callId ?? item.parentCallId),
        name: 'wait_for_approval',
        kind: 'internal' as const,
        startedAt: this.#startOf(item),
        endedAt: this.#endOf(item),
        attributes: approvalAttributes(outcomeOf(item), item.callId),
        hasFailed: item.error !== undefined,
      }));
  }

  /** Returns the trace, id and parent of a span. The parent is the call to which the span belongs, or the turn. */
  #within(key: string, callId: string | undefined) {
    const parent = callId === undefined ? undefined : this.#callSpans.get(callId);
    const spanId = this.#idOf(key);
    // A call whose parent id is its own id belongs to the turn.
    const isOwn = parent === undefined || parent === spanId;
    return {
      traceId: this.#traceId,
      spanId,
      parentSpanId: isOwn ? this.#turnSpanId : parent,
    };
  }

  #idOf(key: string): string {
    return spanIdOf(`${this.#run.id}:${key}`);
  }

  #startOf({ startedAt }: OutputItem): number {
    return startedAt === undefined ? this.#run.createdAt : Date.parse(startedAt);
  }

  #endOf({ endedAt }: OutputItem): number {
    return endedAt === undefined ? this.#run.updatedAt : Date.parse(endedAt);
  }

  /**
   * Returns the time at which the model had finished an item. If the agent ends a call only together with the call's
   * answer, this is the start of the call.
   */
  #modelEndOf(item: OutputItem): number {
    const answer = this.#answers.get(item.id);
    const end = this.#endOf(item);
    return answer && end >= this.#startOf(answer) ? this.#startOf(item) : end;
  }
}

/** Divides a model's output wherever a tool's answer or a person's message comes in between. */
function splitModelOutput(items: readonly OutputItem[]): ModelOutput[] {
  const all: ModelOutput[] = [];
  let current: ModelOutput | undefined;
  for (const item of items) {
    if (isOfModel(item)) {
      if (current) current.push(item);
      else all.push((current = [item]));
    } else if (breaks(item)) current = undefined;
  }
  return all;
}

function isOfModel(item: OutputItem): boolean {
  if (item.type === 'message' || item.type === 'reasoning') return item.origin === 'agent';
  return isCall(item);
}

function breaks(item: OutputItem): boolean {
  return (
    item.type === 'message' ||
    item.type === 'function_call_output' ||
    item.type === 'script_execution_output'
  );
}

function isCall(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || item.type === 'script_execution';
}

function callIdOf(call: CallItem): string {
  return call.type === 'function_call' ? call.callId : call.id;
}

/** Why a call failed, in one word; undefined if it did not fail. */
function failureReason(call: CallItem, answer: OutputItem | undefined): string | undefined {
  const error = call.error ?? answer?.error;
  if (error) return error.code;
  if (!answer) return 'no_answer';
  return 'success' in answer && !answer.success ? 'tool_error' : undefined;
}

function answerText(answer: OutputItem | undefined): string | undefined {
  if (answer?.type === 'function_call_output') return answer.output;
  return answer?.type === 'script_execution_output' ? answer.result : undefined;
}

/** The id of the chosen option, `cancelled`, or `waiting`. */
function outcomeOf({ outcome }: Approval): string {
  if (!outcome) return 'waiting';
  return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
}
