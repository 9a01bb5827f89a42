import type { ToolKind } from '@liminal/protocol';

/** What an agent does otherwise than the Agent Client Protocol has it, as data: a table beside each built-in agent. */
export interface AcpQuirks {
  /** A tool's output, shown as content, stands in a Markdown fence. */
  fencesOutput?: boolean;
  /**
   * It answers a prompt with an error before its turn is over, and a prompt that comes until then is never answered. A
   * cancel in between ends the turn first.
   */
  failsBeforeTurnEnds?: boolean;
  /** A command that runs goes on when its turn is stopped. */
  leavesCommandsRunning?: boolean;
  /** It tells its usage when the model has answered: words that come after it are another message. */
  usageEndsMessage?: boolean;
  /** A call that has succeeded is not always said to have. */
  losesCompletions?: boolean;
  /** Fields of a call's `rawInput` that are the agent's own bookkeeping, not arguments. */
  notArguments?: readonly string[];
  /** A prompt that is answered with this value at this path of the answer's `_meta` has failed; its last message says why. */
  failureMeta?: { path: readonly string[]; value: string };
  /** How a conversation told again by `session/load` differs from one told live. */
  replay?: ReplayQuirks;
}

export interface ReplayQuirks {
  /** Each chunk is a whole message: two in a row are two messages. */
  tellsWhole?: boolean;
  /** Calls that come under the model's name for the tool: its kind, and which argument is told as the title. */
  tools?: Readonly<Record<string, { kind: ToolKind; title: string }>>;
  /** Plans come as calls of this tool: the argument that holds the entries, and their field for the content. */
  plan?: { tool: string; entries: string; content: string };
  /** A line-by-line head of tool outputs that is meant for the model; its group `exitCode` is told apart. */
  outputHead?: RegExp;
}
