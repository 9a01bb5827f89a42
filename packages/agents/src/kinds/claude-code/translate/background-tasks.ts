/** Claude Code's background tasks: commands, subagents and others. */
import { z } from 'zod';
import { type BackgroundTask, headOf, BoundedMap } from '@liminal/protocol';

const Level = z.looseObject({
  subtype: z.literal('background_tasks_changed'),
  tasks: z.array(
    z.looseObject({
      task_id: z.string(),
      task_type: z.string().catch(''),
      description: z.string().catch(''),
      /** Whether the task is Claude Code's own housekeeping. */
      ambient: z.boolean().catch(false),
    }),
  ),
});

const Started = z.looseObject({
  subtype: z.literal('task_started'),
  task_id: z.string(),
  tool_use_id: z.string().optional(),
  description: z.string().catch(''),
});

const Progress = z.looseObject({
  subtype: z.literal('task_progress'),
  task_id: z.string(),
  /** The task's present activity, or the task's assignment if the task reports no activity. */
  description: z.string().optional().catch(undefined),
  /**
   * A better description, if the task has one. Subagents have none, because each summary of a subagent would cost a
   * request to the model.
   */
  summary: z.string().optional().catch(undefined),
  last_tool_name: z.string().optional().catch(undefined),
});

const Ended = z.looseObject({
  subtype: z.literal('task_notification'),
  task_id: z.string(),
  status: z.string().catch('completed'),
  summary: z.string().catch(''),
  /** Whether the summary is a subagent's report. The call that started the subagent already shows the report. */
  summary_is_report: z.boolean().catch(false),
  ambient: z.boolean().catch(false),
});

/** The structured result of a command that continues in the background. */
const InBackground = z.looseObject({ backgroundTaskId: z.string() });
/** The text that Claude Code writes before the path of the output's file. */
const beforeOutput = 'Output is being written to: ';

const TaskMessage = z.union([Level, Started, Progress, Ended]);
const subtypes = new Set(TaskMessage.options.map(({ shape }) => shape.subtype.value as string));

const kinds: Record<string, BackgroundTask['kind']> = {
  local_bash: 'command',
  local_agent: 'agent',
};

const ends: Record<string, string> = { failed: 'has failed', stopped: 'was stopped' };

/** The most characters that are shown of a line. */
const maxProgress = 200;

/** How many tasks' details are remembered at most. */
const maxKnown = 200;

/**
 * The background tasks. Claude Code reports all running tasks at each change (`background_tasks_changed`), and reports
 * the tasks' details separately. Claude Code reports a task's end as text. The model also receives this text, and then
 * begins a turn by itself.
 */
export class BackgroundTasks {
  #running: readonly BackgroundTask[] = [];
  /**
   * The call and title of each task. Claude Code may report the call and title before or after it reports the task as
   * running.
   */
  readonly #started = new BoundedMap<string, { callId: string | undefined; title: string }>(
    maxKnown,
  );
  /**
   * Tasks that ran in the background, by id. A task of this process that is not listed here ends with the call that
   * began the task.
   */
  readonly #known = new BoundedMap<string, BackgroundTask>(maxKnown);
  /** The sentences about the ends of tasks, by the tasks' ids. */
  readonly #ended = new BoundedMap<string, string>(maxKnown);

  /** The running tasks; each change makes a new list. */
  get running(): readonly BackgroundTask[] {
    return this.#running;
  }

  /** Applies a message. Returns a sentence if a task has ended, otherwise undefined. */
  read(message: { subtype: string }, timestamp: string): string | undefined {
    if (!subtypes.has(message.subtype)) return undefined;
    const taskMessage = TaskMessage.safeParse(message).data;
    switch (taskMessage?.subtype) {
      case 'background_tasks_changed':
        this.#replace(taskMessage.tasks, timestamp);
        return undefined;
      case 'task_started':
        this.#start(taskMessage);
        return undefined;
      case 'task_progress':
        this.#updateProgress(taskMessage);
        return undefined;
      case 'task_notification':
        return this.#end(taskMessage);
      case undefined:
        return undefined;
    }
  }

  /** Reads a command's output so far, or only the end of the output. The last line becomes the task's progress. */
  readOutput(taskId: string, output: string): void {
    const line = output.split(/[\r\n]+/).findLast((one) => one.trim() !== '');
    const progress = line && headOf(line, maxProgress);
    const before = this.#running.find((task) => task.taskId === taskId)?.progress;
    if (progress !== undefined && progress !== before) this.#change(taskId, { progress });
  }

  /**
   * If a call's result reports that its command runs in the background, reads the path of the file with the command's
   * output.
   */
  readResult(structured: unknown, text: string): void {
    const taskId = InBackground.safeParse(structured).data?.backgroundTaskId;
    const at = text.indexOf(beforeOutput);
    if (taskId === undefined || at < 0) return;
    // Accept only a file with this name: before a command is moved to the background, the command itself could print
    // Claude Code's words.
    const name = `/tasks/${taskId}.output`;
    const [line = ''] = text.slice(at + beforeOutput.length).split('\n', 1);
    const end = line.indexOf(name);
    if (line.startsWith('/') && end >= 0) {
      this.#change(taskId, { outputFile: line.slice(0, end + name.length) });
    }
  }

  /** Returns the title with which the task began. */
  titleOf(taskId: string): string | undefined {
    return this.#started.get(taskId)?.title || undefined;
  }

  #start({ task_id: taskId, tool_use_id: callId, description: title }: z.infer<typeof Started>) {
    this.#started.set(taskId, { callId, title });
    if (callId !== undefined) this.#change(taskId, { callId });
  }

  #updateProgress(report: z.infer<typeof Progress>): void {
    const { task_id: taskId, description, summary, last_tool_name: tool } = report;
    const title = this.#known.get(taskId)?.title;
    const does = description === title ? undefined : description;
    const progress = [summary, does, tool].find((words) => words !== undefined && words !== '');
    if (progress !== undefined) this.#change(taskId, { progress });
  }

  #replace(tasks: z.infer<typeof Level>['tasks'], startedAt: string): void {
    const before = new Map(this.#running.map((task) => [task.taskId, task]));
    this.#running = tasks
      .filter(({ ambient }) => !ambient)
      .map(({ task_id: taskId, task_type: type, description: title }): BackgroundTask => {
        const callId = this.#started.get(taskId)?.callId;
        const kind = (Object.hasOwn(kinds, type) ? kinds[type] : undefined) ?? 'other';
        const fresh = { taskId, title, kind, startedAt, ...(callId !== undefined && { callId }) };
        return before.get(taskId) ?? fresh;
      });
    for (const task of this.#running) {
      this.#known.set(task.taskId, task);
      this.#ended.delete(task.taskId);
    }
  }

  #change(taskId: string, changes: Partial<BackgroundTask>): void {
    if (!this.#running.some((task) => task.taskId === taskId)) return;
    this.#running = this.#running.map((task) =>
      task.taskId === taskId ? { ...task, ...changes } : task,
    );
  }

  #end(end: z.infer<typeof Ended>): string | undefined {
    const { task_id: taskId, ambient: isAmbient } = end;
    const task = this.#known.get(taskId);
    const isOfCall = task === undefined && this.#started.get(taskId)?.callId !== undefined;
    if (isAmbient || isOfCall) return undefined;
    const words = withLimit(howItEnded(end, task));
    if (this.#ended.get(taskId) === words) return undefined;
    this.#ended.set(taskId, words);
    return words;
  }
}

/** Matches the text in which Claude Code reports that a task ended without finishing. */
const namesEnd = /\b(?:fail|failed|stopped|killed|cancell?ed|exit code|error|didn't finish)\b/i;

/** The text in which Claude Code 2.1.330 reports that a command exceeded its time limit. */
const atLimit = /after reaching its background time limit/;
const aboutLimit =
  'Outside its terminal, Claude Code ends background commands after 30 minutes, or after the time in the call, at most 2 hours. BASH_DEFAULT_TIMEOUT_MS and BASH_MAX_TIMEOUT_MS in the “env” of Claude Code’s settings raise these limits, and also those of other commands.';

const withLimit = (words: string): string =>
  atLimit.test(words) ? `${words.replace(/(?<![.!?])$/, '.')} ${aboutLimit}` : words;

/** Returns a sentence about a task's end. @param task - Undefined if an earlier process began the task. */
function howItEnded(
  { status, summary, summary_is_report: isReport }: z.infer<typeof Ended>,
  task: BackgroundTask | undefined,
): string {
  const end = Object.hasOwn(ends, status) ? ends[status] : undefined;
  const hasSummary = summary !== '' && !(isReport && task !== undefined);
  // The summary of a stopped subagent is only the task's title, and does not mention the end.
  const isPlain = end === undefined || isReport || namesEnd.test(summary);
  if (hasSummary && isPlain) return summary;
  const which = task === undefined ? '' : ` “${task.title}”`;
  const more = hasSummary && summary !== task?.title ? ` ${summary}` : '';
  return `The background task${which} ${end ?? 'is done'}.${more}`;
}
