/** The contract for a tool of our own tool loop. */
import type { ContentBlock, FileDiff, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';
import type { z } from 'zod';
import type { ClientFiles } from '../client-files.ts';
import type { Folders } from './project/project-path.ts';

/** What people see of a call before it runs. */
export interface CallFace {
  /** A short sentence: `Edit src/a.ts`, `npm test`. */
  title: string;
  locations?: ToolLocation[];
  /** What it would change, if that is known before. */
  diffs?: FileDiff[];
}

/**
 * What a call may do only if a person allows it.
 *
 * Rules, which an answer of “always” makes and a configuration may name:
 *
 * | rule | allows |
 * |---|---|
 * | `tool:edit` | every change of a file in the project, by `edit` or `write` |
 * | `edit:src/` | those in this folder and below; `edit:./` is the whole project |
 * | `tool:bash` | every command |
 * | `command:git log` | commands that begin with these words and only read, each part of a joined one for itself; of other programs this command alone, without more words |
 * | `exact:ls -la` | this command, or this part of a joined one, and no other |
 * | `tool:fetch` | every address |
 * | `fetch:example.com` | addresses of this host |
 *
 * A call tells all rules that would allow it, so that a rule is only ever compared, never read: `isAllowed`.
 */
export interface Permission {
  /** What an answer of “always” would allow from then on, for people: `edits in src/`, `read-only git log commands`. */
  always: string;
  /** The same for the program: the rule that such an answer makes. */
  rule: string;
  /** Other rules that allow it as well: broader ones, or narrower ones that fit. */
  also?: readonly string[];
}

export interface ToolResult {
  /** What the model reads. */
  output: string;
  success: boolean;
  blocks?: ContentBlock[];
  diffs?: FileDiff[];
  exitCode?: number | null;
  /** The plan as it is now. */
  plan?: PlanEntry[];
}

/** What a running call has around it. */
export interface ToolContext extends Folders {
  /** What the session's clients have open. */
  files?: ClientFiles | undefined;
  /** The session: what runs at the same time is shared fairly between sessions. */
  owner?: object | undefined;
  /** Aborts when the turn is stopped. */
  signal: AbortSignal;
  /** Shows output while the tool runs. */
  print: (text: string) => void;
}

/** One call hands the same input object to `face`, `needs` and `run`: by it a tool knows again what it has shown. */
export interface Tool<Input = unknown> {
  /** `[a-z_]+`. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly kind: ToolKind;
  /** An object; its fields are described for the model. */
  readonly input: z.ZodType<Input>;
  /** JSON Schema of the input, where that says more than `input`. */
  readonly parameters?: Record<string, unknown>;
  /** Rejects with ToolError for input that makes no sense here. Changes nothing. */
  face(input: Input, folders: Folders, files?: ClientFiles): Promise<CallFace>;
  /** Undefined if nobody needs to be asked. Several: all of them are needed. Throws ToolError where `face` rejects with one. */
  needs(
    input: Input,
    folders: Folders,
  ): Permission[] | undefined | Promise<Permission[] | undefined>;
  /**
   * Rejects with ToolError; every other rejection is a fault of ours. When the signal aborts it ends soon, with what it
   * has by then or a ToolError, and nothing that it started goes on.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
