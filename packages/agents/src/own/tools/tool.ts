/** The interface of a tool of Liminal's own tool loop. */
import type { ContentBlock, FileDiff, PlanEntry, ToolKind, ToolLocation } from '@liminal/protocol';
import type { z } from 'zod';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { Folders } from './project/project-path.ts';

/** The description of a call that people see before it runs. */
export interface CallDescription {
  /** A short description: `Edit src/a.ts`, `npm test`. */
  title: string;
  locations?: ToolLocation[];
  /** The changes that the call would make, if they are known in advance. */
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
  /** What the answer “always” grants, in words for people: `edits in src/`, `read-only git log commands`. */
  always: string;
  /** The rule that an answer “always” creates. */
  rule: string;
  /** Other rules that also grant the permission: broader rules, and suitable narrower rules. */
  also?: readonly string[];
}

export interface ToolResult {
  /** The text that the model gets. */
  output: string;
  success: boolean;
  blocks?: ContentBlock[];
  diffs?: FileDiff[];
  exitCode?: number | null;
  /** The current plan. */
  plan?: PlanEntry[];
}

/** What a running call can use: the session's folders, files and limits. */
export interface ToolContext extends Folders {
  /** Access to the files that the session's clients have open. */
  files?: ClientFiles | undefined;
  /** The session that makes the call; the limits on running calls are shared fairly between sessions. */
  owner?: object | undefined;
  /** Aborts when the turn is stopped. */
  signal: AbortSignal;
  /** Shows people output while the tool runs. */
  print: (text: string) => void;
}

/**
 * A tool. For one call, `describe`, `needs` and `run` get the same input object, so a tool can use it as a key to
 * remember what people were shown.
 */
export interface Tool<Input = unknown> {
  /** `[a-z_]+`. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  readonly kind: ToolKind;
  /** The schema of the input, an object whose fields have descriptions for the model. */
  readonly input: z.ZodType<Input>;
  /** The JSON Schema of the input, if `input` cannot express all of it. */
  readonly parameters?: Record<string, unknown>;
  /** Rejects with ToolError for an input that is not possible in this project. Changes nothing. */
  describe(input: Input, folders: Folders, files?: ClientFiles): Promise<CallDescription>;
  /**
   * Returns all permissions that the call needs; undefined if it needs none. Throws ToolError if `describe` would
   * reject with a ToolError.
   */
  needs(
    input: Input,
    folders: Folders,
  ): Permission[] | undefined | Promise<Permission[] | undefined>;
  /**
   * Rejects with ToolError; any other error is a fault of Liminal. When the signal aborts, the tool must end soon, with
   * its result so far or a ToolError. The tool must not leave a process or any other work running.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
