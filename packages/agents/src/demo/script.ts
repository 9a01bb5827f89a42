/** The format of the demo's recorded turns. All times are milliseconds at normal pace. */
import type { FileDiff, Form, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';

/** One recorded turn. */
export interface Scene {
  /** Also its slash command. */
  name: string;
  /** One sentence for people. */
  description: string;
  /** A message with a word that begins like one of these asks for this scene. */
  words: readonly string[];
  steps: readonly Step[];
}

interface Timed {
  /** Silence before it; default 300. */
  after?: number;
}

interface Say extends Timed {
  do: 'say';
  /** Markdown. */
  text: string;
  /** The model breaks off here: the message stays open. */
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
  /** From call to result. Programs (`execute`) print their output meanwhile, line by line or return by return. */
  takes: number;
  output: string;
  exitCode?: number;
  failed?: boolean;
  /** Asks a person first. If refused, the tool does not run and the turn goes on with `refused`. */
  permission?: { title: string; refused: readonly Step[] };
  /** The steps of a subagent between call and result. */
  steps?: readonly Step[];
}

interface Ask extends Timed {
  do: 'ask';
  /** The question. */
  title: string;
  form: Form;
  /** The steps that follow instead if it is declined. */
  refused: readonly Step[];
}

interface MakePlan extends Timed {
  do: 'plan';
  entries: readonly Pick<PlanEntry, 'content' | 'priority'>[];
}

interface Progress extends Timed {
  do: 'progress';
  /** How many entries of the plan are completed; the next one is in progress. */
  completed: number;
}

interface Fail extends Timed {
  do: 'fail';
  code: string;
  message: string;
}

export type Step = Say | Think | UseTool | Ask | MakePlan | Progress | Fail;
