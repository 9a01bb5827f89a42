import { z } from 'zod';
import { PlanEntry } from '@liminal/protocol';

const Status = PlanEntry.shape.status;
type Status = PlanEntry['status'];

const Todos = z.looseObject({
  todos: z.array(z.looseObject({ content: z.string(), status: Status })),
});
const Update = z.looseObject({
  taskId: z.string(),
  subject: z.string().optional(),
  status: z.union([Status, z.literal('deleted')]).optional(),
});
const Created = z.looseObject({ task: z.looseObject({ id: z.string(), subject: z.string() }) });
const Listed = z.looseObject({
  tasks: z.array(z.looseObject({ id: z.string(), subject: z.string(), status: Status })),
});

/** Matches the entry's id in the text of a result: stored transcripts lack the structured result. */
const createdWords = /^Task #(\S+) created successfully: (.*)$/;

const planTools = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']);

/** Returns whether a tool only updates the to-do list. */
export const isPlanTool = (name: string): boolean => planTools.has(name);

/**
 * A session's to-do list. The model either writes the whole list at once (TodoWrite), or creates and changes one entry
 * at a time (TaskCreate, TaskUpdate); a list that is made of single entries lasts longer than a turn.
 */
export class ClaudePlan {
  #entries = new Map<string, { content: string; status: Status }>();

  /** The whole list. */
  get entries(): PlanEntry[] {
    return [...this.#entries.values()].map((entry) => ({ ...entry, priority: 'medium' }));
  }

  /** Updates the list from a tool call; returns whether the list has changed. */
  call(name: string, input: unknown): boolean {
    if (name === 'TodoWrite') return this.#replace(Todos.safeParse(input).data?.todos);
    const update = name === 'TaskUpdate' ? Update.safeParse(input).data : undefined;
    const known = update && this.#entries.get(update.taskId);
    if (update === undefined || known === undefined) return false;
    const { taskId, subject: content = known.content, status = known.status } = update;
    if (status === 'deleted') return this.#entries.delete(taskId);
    this.#entries.set(taskId, { content, status });
    return true;
  }

  /** Updates the list from a tool's result; returns whether the list has changed. */
  answer(name: string, content: unknown, structured: unknown): boolean {
    if (name === 'TaskCreate') return this.#add(content, structured);
    const tasks = name === 'TaskList' ? Listed.safeParse(structured).data?.tasks : undefined;
    // Add only missing entries: parallel calls may have changed the other entries after Claude Code made this list.
    return (tasks ?? []).filter((task) => this.#addMissing(task)).length > 0;
  }

  #replace(todos: { content: string; status: Status }[] | undefined): boolean {
    if (todos === undefined) return false;
    const entries = todos.map(
      ({ content, status }, index) => [`todo${index}`, { content, status }] as const,
    );
    this.#entries = new Map(entries);
    return true;
  }

  #add(content: unknown, structured: unknown): boolean {
    const task = Created.safeParse(structured).data?.task;
    const words = typeof content === 'string' ? createdWords.exec(content) : null;
    const [id, subject] = task === undefined ? [words?.[1], words?.[2]] : [task.id, task.subject];
    return id !== undefined && subject !== undefined && this.#addMissing({ id, subject });
  }

  #addMissing({
    id,
    subject,
    status = 'pending',
  }: {
    id: string;
    subject: string;
    status?: Status;
  }): boolean {
    if (this.#entries.has(id)) return false;
    this.#entries.set(id, { content: subject, status });
    return true;
  }
}
