import { type BackgroundTask, headOf } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import { oneLine } from '../../../base/titles.ts';
import { SpawnCall, ThreadItem } from './wire.ts';

type Params = Record<string, unknown>;

/** The call that delegated a task to a subagent. */
export interface TaskCall {
  callId: string;
  /** The turn that made the call. */
  turnId: string;
  prompt: string;
}

interface RunningTask {
  /** Codex' own id for the running turn in the task's thread. */
  nativeId: string | undefined;
  /** Codex' own id for the turn in the session's thread that started the task. */
  rootId: string | undefined;
  startedAt: string;
  progress?: string;
}

/** The most characters that are shown of a task's last line. */
const maxProgress = 200;

/**
 * Tasks that Codex has delegated to subagents; each task has its own thread. A task that is still running after its
 * turn becomes a background task, and the task's further items are shown in a later turn.
 */
export class Tasks {
  /** All threads that Codex has begun for tasks, by id. */
  readonly #threads = new Map<string, RunningTask>();
  /** The calls that delegated tasks, by the id of the task's thread. */
  readonly #calls = new Map<string, TaskCall>();
  /**
   * Calls that do not contain the id of their task's thread yet. The thread may begin to work before the call contains
   * its id.
   */
  #unnamed: TaskCall[] = [];

  get threads(): { threadId: string; turnId: string | undefined }[] {
    return [...this.#threads].map(([threadId, { nativeId }]) => ({ threadId, turnId: nativeId }));
  }

  /** Returns the tasks of one of the session's turns. */
  of(rootId: string): { threadId: string; turnId: string | undefined }[] {
    return this.threads.filter(({ threadId }) => this.#threads.get(threadId)?.rootId === rootId);
  }

  /** Returns the running turn in a task's thread; undefined if none runs. */
  find(threadId: string): string | undefined {
    return this.#threads.get(threadId)?.nativeId;
  }

  /**
   * Returns the running tasks that do not belong to the running turn. @param rootId - Codex' own id for the session's
   * running turn.
   */
  beside(rootId: string | undefined): BackgroundTask[] {
    return [...this.#threads].flatMap(([threadId, task]): BackgroundTask[] => {
      if (task.nativeId === undefined || task.rootId === rootId) return [];
      const { callId, prompt } = this.#calls.get(threadId) ?? { callId: undefined, prompt: '' };
      const { startedAt, progress } = task;
      const known = {
        ...(callId !== undefined && { callId }),
        ...(progress !== undefined && { progress }),
      };
      return [
        {
          taskId: threadId,
          title: oneLine(prompt) || 'A task',
          kind: 'agent',
          startedAt,
          ...known,
        },
      ];
    });
  }

  /** Reads a notification about a task's thread. Returns whether the notification may change the result of `beside`. */
  read(threadId: string, method: string, { turn, item }: Params, now: string): boolean {
    switch (method) {
      case 'turn/started':
        this.#threads.set(threadId, { ...readTurn(turn), startedAt: now });
        return true;
      case 'turn/completed': {
        const task = this.#threads.get(threadId);
        if (task !== undefined) task.nativeId = undefined;
        return true;
      }
      case 'thread/closed':
        return this.#threads.delete(threadId);
      case 'item/completed':
        return this.#note(threadId, item);
      default:
        return false;
    }
  }

  /** Reads an item of one of the session's turns. If the item is a call that delegates a task, records the call. */
  noteCall(item: unknown, turnId: string): void {
    if (!isRecord(item) || item['type'] !== 'collabAgentToolCall') return;
    const call = SpawnCall.safeParse(item).data;
    if (call === undefined) return;
    const isNew = !this.#unnamed.some(({ callId }) => callId === call.id);
    const isKnown = [...this.#calls.values()].some(({ callId }) => callId === call.id);
    const made = { callId: call.id, turnId, prompt: call.prompt ?? '' };
    if (isNew && !isKnown) this.#unnamed.push(made);
    const [threadId] = call.receiverThreadIds;
    if (threadId === undefined || this.#calls.get(threadId)?.callId === call.id) return;
    this.#unnamed = this.#unnamed.filter(({ callId }) => callId !== call.id);
    this.#calls.set(threadId, made);
  }

  /**
   * Returns the call that delegated a thread's task. If no call contains the thread's id yet, assigns the thread to the
   * oldest call without a thread id.
   */
  callOf(threadId: string): TaskCall | undefined {
    const named = this.#calls.get(threadId);
    if (named !== undefined) return named;
    const next = this.#unnamed.shift();
    if (next !== undefined) this.#calls.set(threadId, next);
    return next;
  }

  #note(threadId: string, value: unknown): boolean {
    const task = this.#threads.get(threadId);
    const item = ThreadItem.safeParse(value).data;
    if (task === undefined || item?.type !== 'agentMessage') return false;
    const last = item.text.trimEnd().split('\n').at(-1) ?? '';
    if (last === '') return false;
    task.progress = headOf(last, maxProgress);
    return true;
  }
}

function readTurn(turn: unknown): { nativeId: string | undefined; rootId: string | undefined } {
  const { id, rootTurnId } = isRecord(turn) ? turn : {};
  return {
    nativeId: typeof id === 'string' ? id : undefined,
    rootId: typeof rootTurnId === 'string' ? rootTurnId : undefined,
  };
}
