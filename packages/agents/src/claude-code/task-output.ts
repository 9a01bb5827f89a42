/** What commands in the background print: Claude Code tells it only when it is asked. */
import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

/** How often it is asked, ms. */
const pollMs = 1_000;

const Answer = z.looseObject({ response: z.looseObject({ output: z.string() }) });

/** The end of what a command has printed, at most 8 KiB; undefined if Claude Code does not tell. */
export async function askOutput(query: Query, taskId: string): Promise<string | undefined> {
  // The program takes this request, though the SDK has no method for it.
  const request: unknown = Reflect.get(query, 'request');
  if (typeof request !== 'function') return undefined;
  const asked = { subtype: 'get_task_output', task_id: taskId };
  const answer: unknown = await Promise.resolve(request.call(query, asked)).catch(() => undefined);
  return Answer.safeParse(answer).data?.response.output;
}

/**
 * Whether the path is that of a file in which Claude Code keeps what a command of the session prints: below the system's
 * folder for temporary files it has a folder for each user, project and session.
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

/** Looks again and again as long as there are commands. */
export class TaskOutput {
  readonly #look: (taskId: string) => Promise<void>;
  #taskIds: readonly string[] = [];
  #next: NodeJS.Timeout | undefined;

  constructor(look: (taskId: string) => Promise<void>) {
    this.#look = look;
  }

  /** The commands that run now; none ends it. */
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
