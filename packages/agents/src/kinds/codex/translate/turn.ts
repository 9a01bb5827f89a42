import type { Usage } from '@liminal/protocol';
import type { TurnEnd, TurnWriter } from '../../../base/turn-writer.ts';
import { errorOf } from './errors.ts';
import { activityOf } from './notices.ts';
import { type TaskCall, Tasks } from './tasks.ts';
import { type RunningCommand, ThreadItems } from './thread-items.ts';
import { callOf } from './tools.ts';
import { CompletedTurn, TokenUsage, TurnError } from './wire.ts';

type Params = Record<string, unknown>;

/** A running command of a turn, with its thread. */
export type TurnCommand = RunningCommand & { threadId: string };

/** Translates a Codex turn to canonical events, including the items of tasks that run during the turn. */
export class CodexTurn {
  readonly #writer: TurnWriter;
  readonly #cwd: string;
  readonly #threadId: string;
  readonly #items: ThreadItems;
  readonly #taskItems = new Map<string, ThreadItems>();
  /** All tasks of the session. */
  readonly #tasks: Tasks;
  #usage: Usage | undefined;
  /** The last reported reason for waiting; empty for none. */
  #waitsFor = '';

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, cwd: string, threadId: string, tasks = new Tasks()) {
    this.#tasks = tasks;
    this.#writer = writer;
    this.#cwd = cwd;
    this.#threadId = threadId;
    this.#items = new ThreadItems(writer, cwd);
  }

  /** The running commands, each with its thread. */
  get commands(): TurnCommand[] {
    const all = [[this.#threadId, this.#items] as const, ...this.#taskItems];
    return all.flatMap(([threadId, { commands }]) =>
      commands.map((command) => ({ threadId, ...command })),
    );
  }

  /**
   * Reads a notification about this turn. If the agent's reason for waiting has changed, returns the new reason, or ''
   * if the agent no longer waits.
   */
  read(method: string, params: Params): string | undefined {
    const waitsFor = this.#read(method, params) ?? (method.startsWith('item/') ? '' : undefined);
    if (waitsFor === undefined || waitsFor === this.#waitsFor) return undefined;
    this.#waitsFor = waitsFor;
    return waitsFor;
  }

  #read(method: string, params: Params): string | undefined {
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
        this.#tasks.noteCall(params['item'], this.#writer.turnId);
        this.#items.read(method, params);
        return activityOf(method, params);
    }
  }

  /** Reads a notification about a task. */
  readTask(threadId: string, method: string, params: Params): undefined {
    // Do not begin the task's items only for the start or the end of the task's turn, because neither shows anything,
    // except a failure.
    const isShown = method.startsWith('item/') || hasFailed(params['turn']);
    if (!isShown && !this.#taskItems.has(threadId)) return undefined;
    const items = this.#taskItems.get(threadId) ?? this.#beginTask(threadId);
    this.#tasks.noteCall(params['item'], this.#writer.turnId);
    if (method === 'error' && params['willRetry'] === true) items.retry();
    else if (method === 'turn/completed') this.#endTask(items, params['turn']);
    else items.read(method, params);
    return undefined;
  }

  /** Records that a message that is about to be sent must not be shown as a message. */
  hide(messageId: string): void {
    this.#items.hide(messageId);
  }

  /** Shows a stored item. */
  addStored(item: unknown): void {
    this.#tasks.noteCall(item, this.#writer.turnId);
    this.#items.addStored(item);
  }

  /** Ends the turn with Codex' status. @param turn - The turn in Codex' notification. */
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

  /** Ends the turn and its open calls. */
  close(end: TurnEnd): void {
    const hasCompleted = end.type === 'response_done' && end.status === 'completed';
    for (const items of [...this.#taskItems.values(), this.#items]) items.end(hasCompleted);
    this.#writer.end(end);
  }

  /** Ends the turn as failed, because Codex could not begin it. */
  fail(error: unknown): void {
    this.end({ id: '', status: 'failed', error });
  }

  #endTask(items: ThreadItems, turn: unknown): void {
    if (hasFailed(turn)) items.fail(errorOf(CompletedTurn.parse(turn).error ?? undefined).message);
    items.end(!hasFailed(turn));
  }

  #beginTask(threadId: string): ThreadItems {
    const call = this.#tasks.callOf(threadId);
    const isEarlier = call !== undefined && call.turnId !== this.#writer.turnId;
    const callId = isEarlier ? this.#continueTask(threadId, call) : call?.callId;
    const items = new ThreadItems(this.#writer, this.#cwd, { threadId, callId });
    this.#taskItems.set(threadId, items);
    return items;
  }

  /** Adds a call for the further items of a task that an earlier turn began. Returns the call's id. */
  #continueTask(threadId: string, { prompt }: TaskCall): string {
    const id = `${this.#writer.turnId}:${threadId}`;
    const call = { type: 'collabAgentToolCall', id, tool: 'goesOn', prompt } as const;
    const made = callOf(
      { ...call, receiverThreadIds: [threadId], agentsStates: {}, status: '' },
      this.#cwd,
    );
    this.#writer.add({ type: 'function_call', id, callId: id, origin: 'agent', ...made });
    const output = { callId: id, output: '', success: true, origin: 'system' } as const;
    this.#writer.add({ type: 'function_call_output', id: `${id}:output`, ...output });
    return id;
  }

  /** Adds up the tokens of a turn's requests. The total of the last request is the present size of the context. */
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

/** Returns whether a turn in a notification has completed. */
export const isCompleted = (turn: unknown): boolean =>
  CompletedTurn.safeParse(turn).data?.status === 'completed';

/** Returns whether a turn in a notification has failed. */
export const hasFailed = (turn: unknown): boolean =>
  CompletedTurn.safeParse(turn).data?.status === 'failed';
