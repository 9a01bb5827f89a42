/** How the demo's recorded turns are written down. All times are milliseconds at normal pace. */
import type { FileDiff, Form, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';

/** One recorded turn. */
export interface Scene {
  /** Also its slash command. */
  name: string;
  /** One sentence for people. */
  description: string;
  /** A message that holds one of these words, or a word that begins so, asks for this scene. */
  words: readonly string[];
  steps: readonly Step[];
}

interface Timed {
  /** Silence before it; 300 without it. */
  after?: number;
}

interface Say extends Timed {
  do: 'say';
  /** Markdown. */
  text: string;
  /** The source breaks off here: the message stays open. */
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
  /** From invocation to result. Programs (`execute`) say their output line by line, or from return to return, meanwhile. */
  takes: number;
  output: string;
  exitCode?: number;
  failed?: boolean;
  /** Asks a person first. Refused, the tool does not run and the turn goes on with `refused` instead. */
  permission?: { title: string; refused: readonly Step[] };
  /** What a subagent does between invocation and result. */
  steps?: readonly Step[];
}

interface Ask extends Timed {
  do: 'ask';
  /** The question. */
  title: string;
  form: Form;
  /** Declined, the turn goes on with this instead. */
  refused: readonly Step[];
}

interface MakePlan extends Timed {
  do: 'plan';
  entries: readonly Pick<PlanEntry, 'content' | 'priority'>[];
}

interface Progress extends Timed {
  do: 'progress';
  /** So many entries of the plan are completed; the next one is in progress. */
  completed: number;
}

interface Fail extends Timed {
  do: 'fail';
  code: string;
  message: string;
}

export type Step = Say | Think | UseTool | Ask | MakePlan | Progress | Fail;
