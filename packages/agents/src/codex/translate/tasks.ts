import { type BackgroundTask, headOf } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';
import { oneLine } from '../../base/titles.ts';
import { SpawnCall, ThreadItem } from './wire.ts';

type Params = Record<string, unknown>;

/** The call that gave a task to another agent. */
export interface TaskCall {
  callId: string;
  /** The turn that the call was made in. */
  turnId: string;
  prompt: string;
}

interface Task {
  /** Codex' own id of the turn that runs in the task's thread. */
  nativeId: string | undefined;
  /** Of the session's turn that the task belongs to. */
  rootId: string | undefined;
  startedAt: string;
  progress?: string;
}

/** The most characters of what a task says that are shown beside the turns. */
const maxProgress = 200;

/**
 * The tasks that Codex has given to other agents, each in a thread of its own. One may outlive the turn that it was
 * given in: it is a background task then, and what it says is shown in a later turn.
 */
export class Tasks {
  /** Every thread that Codex has begun for a task. */
  readonly #threads = new Map<string, Task>();
  /** Those calls whose thread is known, by thread. */
  readonly #calls = new Map<string, TaskCall>();
  /** Calls that do not name their thread yet: it may begin to work before they do. */
  #unnamed: TaskCall[] = [];

  get threads(): { threadId: string; turnId: string | undefined }[] {
    return [...this.#threads].map(([threadId, { nativeId }]) => ({ threadId, turnId: nativeId }));
  }

  /** Those that run for a turn of the session. */
  of(rootId: string): { threadId: string; turnId: string | undefined }[] {
    return this.threads.filter(({ threadId }) => this.#threads.get(threadId)?.rootId === rootId);
  }

  /** The turn that runs in a task's thread; undefined if none does. */
  find(threadId: string): string | undefined {
    return this.#threads.get(threadId)?.nativeId;
  }

  /** The tasks that run without the session's turn. @param rootId - Of the turn that runs. */
  beside(rootId: string | undefined): BackgroundTask[] {
    return [...this.#threads].flatMap(([threadId, task]): BackgroundTask[] => {
      if (task.nativeId === undefined || task.rootId === rootId) return [];
      const { callId, prompt } = this.#calls.get(threadId) ?? { callId: undefined, prompt: '' };
      const { startedAt, progress } = task;
      const told = {
        ...(callId !== undefined && { callId }),
        ...(progress !== undefined && { progress }),
      };
      return [
        { taskId: threadId, title: oneLine(prompt) || 'A task', kind: 'agent', startedAt, ...told },
      ];
    });
  }

  /** Reads what Codex says of the thread of a task; returns whether it concerns which tasks run, and what they do. */
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

  /** Reads an item of a turn of the session: it may be a call that gives a task. */
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

  /** The call that gave the task of a thread. One that begins to work before its call names it has the oldest call. */
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
