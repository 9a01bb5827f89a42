/** The format of the demo's recorded turns. All times are milliseconds at normal pace. */
import type { FileDiff, Form, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';

/** One recorded turn. */
export interface Scene {
  /** The scene's name, which is also its slash command. */
  name: string;
  /** One sentence for people. */
  description: string;
  /** A message asks for this scene if one of its words begins with one of these. */
  words: readonly string[];
  steps: readonly Step[];
}

interface Timed {
  /** Silence before the step; default 300. */
  after?: number;
}

interface Say extends Timed {
  do: 'say';
  /** Markdown. */
  text: string;
  /** Whether the model breaks off, so that the message stays open. */
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
  /** Time from call to result. Programs (`execute`) print during it, a piece per line feed or carriage return. */
  takes: number;
  output: string;
  exitCode?: number;
  failed?: boolean;
  /** Asks a person first. After a refusal the tool does not run, and the turn continues with `refused`. */
  permission?: { title: string; refused: readonly Step[] };
  /** The steps of a subagent between call and result. */
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
  /** The number of completed plan entries; the next entry is in progress. */
  completed: number;
}

interface Fail extends Timed {
  do: 'fail';
  code: string;
  message: string;
}

export type Step = Say | Think | UseTool | Ask | MakePlan | Progress | Fail;
