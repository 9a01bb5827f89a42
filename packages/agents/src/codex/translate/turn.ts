import type { Usage } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';
import type { TurnEnd, TurnWriter } from '../../base/turn-writer.ts';
import { errorOf } from './errors.ts';
import { type RunningCommand, ThreadItems } from './thread-items.ts';
import { CompletedTurn, SpawnCall, TokenUsage, TurnError } from './wire.ts';

type Params = Record<string, unknown>;

/** One turn of Codex' as canonical events, with the tasks that it begins in threads of their own. */
export class CodexTurn {
  readonly #writer: TurnWriter;
  readonly #cwd: string;
  readonly #threadId: string;
  readonly #items: ThreadItems;
  readonly #tasks = new Map<string, ThreadItems>();
  /** The calls that begin tasks, with the tasks' threads once they are known. */
  readonly #calls = new Map<string, string | undefined>();
  #usage: Usage | undefined;

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, cwd: string, threadId: string) {
    this.#writer = writer;
    this.#cwd = cwd;
    this.#threadId = threadId;
    this.#items = new ThreadItems(writer, cwd);
  }

  /** The commands that still run, each with its thread. */
  get commands(): (RunningCommand & { threadId: string })[] {
    const all = [[this.#threadId, this.#items] as const, ...this.#tasks];
    return all.flatMap(([threadId, { commands }]) =>
      commands.map((command) => ({ threadId, ...command })),
    );
  }

  /** Reads a notification about this turn; returns what the agent waits for, if it says that. */
  read(method: string, params: Params): string | undefined {
    switch (method) {
      case 'thread/tokenUsage/updated':
        this.#count(params['tokenUsage']);
        return undefined;
      case 'error':
        if (params['willRetry'] !== true) return undefined;
        this.#items.retry();
        return TurnError.safeParse(params['error']).data?.message ?? '';
      case 'turn/completed':
        this.end(params['turn']);
        return '';
      default:
        this.#noteCall(params['item']);
        this.#items.read(method, params);
        return undefined;
    }
  }

  /** Reads a notification about a task. */
  readTask(threadId: string, method: string, params: Params): undefined {
    const items = this.#tasks.get(threadId) ?? this.#beginTask(threadId);
    if (method === 'error' && params['willRetry'] === true) items.retry();
    else if (method === 'turn/completed') items.end(true);
    else items.read(method, params);
    return undefined;
  }

  /** A message with this id is about to be sent, and is not to be shown. */
  hide(messageId: string): void {
    this.#items.hide(messageId);
  }

  /** Shows a stored item. */
  tell(item: unknown): void {
    this.#items.tell(item);
  }

  /** @param turn - As Codex describes it. */
  end(turn: unknown): void {
    const { status, error } = CompletedTurn.parse(turn);
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    if (status === 'failed') {
      this.close({ type: 'response_error', error: errorOf(error ?? undefined), ...usage });
    } else if (status === 'completed') {
      const how = { status: 'completed', finishReason: 'end_turn' } as const;
      this.close({ type: 'response_done', ...how, ...usage });
    } else {
      const how = { status: 'cancelled', finishReason: 'cancelled' } as const;
      this.close({ type: 'response_done', ...how, ...usage });
    }
  }

  /** Ends the turn, with the calls that are still open. */
  close(end: TurnEnd): void {
    const isWhole = end.type === 'response_done' && end.status === 'completed';
    for (const items of [...this.#tasks.values(), this.#items]) items.end(isWhole);
    this.#writer.end(end);
  }

  /** Ends a turn that Codex could not begin. */
  fail(error: unknown): void {
    this.end({ id: '', status: 'failed', error });
  }

  /** A task's call names its thread when it is done; the thread may have begun to work by then. */
  #noteCall(item: unknown): void {
    if (!isRecord(item) || item['type'] !== 'collabAgentToolCall') return;
    const call = SpawnCall.safeParse(item).data;
    if (call === undefined) return;
    this.#calls.set(call.id, call.receiverThreadIds[0] ?? this.#calls.get(call.id));
  }

  #beginTask(threadId: string): ThreadItems {
    const calls = [...this.#calls];
    const own = calls.find(([, named]) => named === threadId);
    const next = calls.find(([, named]) => named === undefined);
    const callId = (own ?? next)?.[0];
    if (callId !== undefined) this.#calls.set(callId, threadId);
    const items = new ThreadItems(this.#writer, this.#cwd, { threadId, callId });
    this.#tasks.set(threadId, items);
    return items;
  }

  /** A turn makes several requests; the last one filled the context. */
  #count(value: unknown): void {
    const { last, modelContextWindow } = TokenUsage.safeParse(value).data ?? {};
    if (last === undefined) return;
    const before = this.#usage ?? { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 0 };
    this.#usage = {
      inputTokens: before.inputTokens + last.inputTokens,
      outputTokens: before.outputTokens + last.outputTokens,
      cacheReadInputTokens: (before.cacheReadInputTokens ?? 0) + last.cachedInputTokens,
      contextTokens: last.totalTokens,
      ...(modelContextWindow != null && { contextWindow: modelContextWindow }),
    };
  }
}
