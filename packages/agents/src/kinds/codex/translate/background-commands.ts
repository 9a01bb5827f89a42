import { type BackgroundTask, headOf } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import { timeOfSeconds } from '../../../base/usage-limits.ts';
import type { TurnCommand } from './turn.ts';

interface BackgroundCommand {
  task: BackgroundTask;
  threadId: string;
  processId: string;
}

/** The most characters that are shown of a command's last line. */
const maxProgress = 200;

/**
 * Commands that are still running after their turn. Codex continues to report the commands' output, and reports their
 * end.
 */
export class BackgroundCommands {
  #left: readonly BackgroundCommand[] = [];
  #running: readonly BackgroundTask[] = [];

  /** The running commands; a new array after each change. */
  get running(): readonly BackgroundTask[] {
    return this.#running;
  }

  /** Returns Codex' ids for the thread and the process of a task. */
  find(taskId: string): { threadId: string; processId: string } | undefined {
    const one = this.#left.find(({ task }) => task.taskId === taskId);
    return one && { threadId: one.threadId, processId: one.processId };
  }

  /** Adds commands that are still running at their turn's end. */
  adopt(commands: readonly TurnCommand[], now: string): void {
    if (commands.length === 0) return;
    const more = commands.map(
      ({ itemId, processId, threadId, title = '', startedAtMs }): BackgroundCommand => {
        const startedAt =
          (startedAtMs == null ? undefined : timeOfSeconds(startedAtMs / 1_000)) ?? now;
        const shown = title.replace(/^Run /, '');
        const task = {
          taskId: itemId,
          callId: itemId,
          title: shown,
          kind: 'command',
          startedAt,
        } as const;
        return { task, threadId, processId };
      },
    );
    this.#set([...this.#left, ...more]);
  }

  /** Reads a notification. Returns whether the notification reports the end of one of these commands. */
  read(method: string, params: Record<string, unknown>): boolean {
    if (this.#left.length === 0) return false;
    if (method === 'item/completed') return this.#complete(params['item']);
    if (method === 'item/commandExecution/outputDelta') {
      this.#print(params['itemId'], params['delta']);
    }
    return false;
  }

  #print(itemId: unknown, delta: unknown): void {
    if (typeof delta !== 'string' || !this.#left.some(({ task }) => task.taskId === itemId)) return;
    const line = delta.trimEnd().split('\n').at(-1) ?? '';
    if (line === '') return;
    const progress = headOf(line, maxProgress);
    this.#set(
      this.#left.map((one) =>
        one.task.taskId === itemId ? { ...one, task: { ...one.task, progress } } : one,
      ),
    );
  }

  #complete(item: unknown): boolean {
    const id = isRecord(item) ? item['id'] : undefined;
    const rest = this.#left.filter(({ task }) => task.taskId !== id);
    if (rest.length === this.#left.length) return false;
    this.#set(rest);
    return true;
  }

  #set(left: readonly BackgroundCommand[]): void {
    this.#left = left;
    this.#running = left.map(({ task }) => task);
  }
}
