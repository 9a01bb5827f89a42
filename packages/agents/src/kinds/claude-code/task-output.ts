/** Gets the output of background commands. Claude Code reports this output only on request. */
import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

/** Polling interval, ms. */
const pollMs = 1_000;

const OutputAnswer = z.looseObject({ response: z.looseObject({ output: z.string() }) });

/** Returns the end of a command's output, at most 8 KiB; undefined if Claude Code does not report the output. */
export async function askOutput(query: Query, taskId: string): Promise<string | undefined> {
  // Claude Code supports this request, though the SDK has no method for it.
  const request: unknown = Reflect.get(query, 'request');
  if (typeof request !== 'function') return undefined;
  const asked = { subtype: 'get_task_output', task_id: taskId };
  const answer: unknown = await Promise.resolve(request.call(query, asked)).catch(() => undefined);
  return OutputAnswer.safeParse(answer).data?.response.output;
}

/**
 * Returns whether the path is a file in which Claude Code stores the output of a background command of the session: its
 * folder below the system's temporary folder has a folder for each user, project and session.
 */
export function isTaskOutput(agentSessionId: string, path: string): boolean {
  const [user = '', , session, tasks, file = ''] = path.split('/').slice(-5);
  return (
    /^claude-\d+$/.test(user) &&
    session === agentSessionId &&
    tasks === 'tasks' &&
    /^[\w-]+\.output$/.test(file)
  );
}

/** Polls the output of background commands while there are any. */
export class TaskOutput {
  readonly #look: (taskId: string) => Promise<void>;
  #taskIds: readonly string[] = [];
  #next: NodeJS.Timeout | undefined;

  constructor(look: (taskId: string) => Promise<void>) {
    this.#look = look;
  }

  /** Sets the running commands. An empty list stops the polling. */
  watch(taskIds: readonly string[]): void {
    this.#taskIds = taskIds;
    if (taskIds.length > 0) this.#next ??= setTimeout(() => void this.#lookAtAll(), pollMs);
    else this.#stop();
  }

  async #lookAtAll(): Promise<void> {
    const looking = this.#next;
    await Promise.all(this.#taskIds.map((taskId) => this.#look(taskId)));
    if (this.#next !== looking) return;
    this.#next = undefined;
    this.watch(this.#taskIds);
  }

  #stop(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
  }
}
