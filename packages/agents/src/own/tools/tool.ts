/** The contract for a tool of Liminal's own tool loop. */
import type { ContentBlock, FileDiff, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';
import type { z } from 'zod';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { Folders } from './project/project-path.ts';

/** The description of a call that people see before it runs. */
export interface CallDescription {
  /** A short sentence: `Edit src/a.ts`, `npm test`. */
  title: string;
  locations?: ToolLocation[];
  /** The changes that the call would make, if known in advance. */
  diffs?: FileDiff[];
}

/**
 * A permission that a call needs.
 *
 * Rules are made when people answer “always”, and may be listed in a configuration:
 *
 * | rule | allows |
 * |---|---|
 * | `tool:edit` | every change of a file in the project, by `edit` or `write` |
 * | `edit:src/` | changes in this folder and below; `edit:./` is the whole project |
 * | `tool:bash` | every command |
 * | `command:git log` | commands that begin with these words and only read, each part of a joined command separately; of other programs exactly this command |
 * | `exact:ls -la` | exactly this command, or this part of a joined command |
 * | `tool:fetch` | every address |
 * | `fetch:example.com` | addresses of this host |
 *
 * A permission lists all rules that allow it, so that rules are only compared, never parsed: `isAllowed`.
 */
export interface Permission {
  /** What the answer “always” would allow from then on, for people: `edits in src/`, `read-only git log commands`. */
  always: string;
  /** The rule that the answer “always” makes. */
  rule: string;
  /** Other rules that also allow it: broader rules, or narrower ones that fit. */
  also?: readonly string[];
}

export interface ToolResult {
  /** The text that the model reads. */
  output: string;
  success: boolean;
  blocks?: ContentBlock[];
  diffs?: FileDiff[];
  exitCode?: number | null;
  /** The current plan. */
  plan?: PlanEntry[];
}

/** The surroundings of a running call. */
export interface ToolContext extends Folders {
  /** The files that the session's clients have open. */
  files?: ClientFiles | undefined;
  /** The session: limits on running calls are shared fairly between sessions. */
  owner?: object | undefined;
  /** Aborts when the turn is stopped. */
  signal: AbortSignal;
  /** Shows output while the tool runs. */
  print: (text: string) => void;
}

/** A tool. `describe`, `needs` and `run` get the same input object of a call, by which a tool can remember what it has shown. */
export interface Tool<Input = unknown> {
  /** `[a-z_]+`. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  readonly kind: ToolKind;
  /** An object; its fields have descriptions for the model. */
  readonly input: z.ZodType<Input>;
  /** JSON Schema of the input, if it says more than `input`. */
  readonly parameters?: Record<string, unknown>;
  /** Rejects with ToolError for input that makes no sense in the project. Changes nothing. */
  describe(input: Input, folders: Folders, files?: ClientFiles): Promise<CallDescription>;
  /** All permissions that the call needs; undefined if none. Throws ToolError where `describe` rejects with one. */
  needs(
    input: Input,
    folders: Folders,
  ): Permission[] | undefined | Promise<Permission[] | undefined>;
  /**
   * Rejects with ToolError; any other rejection is a fault of Liminal. When the signal aborts, it ends soon with its result so
   * far or a ToolError, and nothing that it started continues.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
