/** The format of the demo's recorded turns. All times are milliseconds at normal pace. */
import type { FileDiff, Form, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';

/** One recorded turn. */
export interface Scene {
  /** The scene's name, which is also its slash command. */
  name: string;
  /** One sentence for people. */
  description: string;
  /** The beginnings of words. A message that contains a word with such a beginning asks for this scene. */
  words: readonly string[];
  steps: readonly Step[];
}

interface Timed {
  /** The pause before the step; default 300. */
  after?: number;
}

interface Say extends Timed {
  do: 'say';
  /** Markdown. */
  text: string;
  /** Whether the model breaks off here, so that the message stays open. */
  cut?: boolean;
}

interface Think extends Timed {
  do: 'think';
  text: string;
}

export interface UseTool extends Timed {
  do: 'tool';
  name: string;
  title: string;
  kind: ToolKind;
  input: Record<string, unknown>;
  locations?: ToolLocation[];
  diffs?: FileDiff[];
  /**
   * The time from the call to its result. Programs (`execute`) print their output during this time, in pieces that end
   * at a line feed or carriage return.
   */
  takes: number;
  output: string;
  exitCode?: number;
  failed?: boolean;
  /**
   * Asks a person first. If the person refuses, the tool does not run, and the turn continues with the steps `refused`.
   */
  permission?: { title: string; refused: readonly Step[] };
  /** The steps of a subagent, between the call and its result. */
  steps?: readonly Step[];
}

interface Ask extends Timed {
  do: 'ask';
  /** The question. */
  title: string;
  form: Form;
  /** The steps that follow if the question is declined. */
  refused: readonly Step[];
}

interface MakePlan extends Timed {
  do: 'plan';
  entries: readonly Pick<PlanEntry, 'content' | 'priority'>[];
}

interface Progress extends Timed {
  do: 'progress';
  /** The number of completed plan entries; the entry after them is in progress. */
  completed: number;
}

interface Fail extends Timed {
  do: 'fail';
  code: string;
  message: string;
}

export type Step = Say | Think | UseTool | Ask | MakePlan | Progress | Fail;
