import type { ToolKind } from '@liminal/protocol';

/** How an agent deviates from the Agent Client Protocol, as data: a table beside each built-in agent. */
export interface AcpQuirks {
  /** A tool's output in its content is wrapped in a Markdown fence. */
  fencesOutput?: boolean;
  /**
   * It answers a prompt with an error before its turn is over, and never answers a prompt that comes before that. A
   * cancel in between ends the turn first.
   */
  failsBeforeTurnEnds?: boolean;
  /** A running command goes on when its turn is stopped. */
  leavesCommandsRunning?: boolean;
  /** It reports usage when the model has answered: text after that is another message. */
  usageEndsMessage?: boolean;
  /** It does not always report that a call has succeeded. */
  losesCompletions?: boolean;
  /** Fields of a call's `rawInput` that are the agent's own bookkeeping, not arguments. */
  notArguments?: readonly string[];
  /** A prompt answered with this value at this path of `_meta` has failed; the last message says why. */
  failureMeta?: { path: readonly string[]; value: string };
  /** How a conversation replayed by `session/load` differs from a live one. */
  replay?: ReplayQuirks;
}

export interface ReplayQuirks {
  /** Each chunk is a whole message: two in a row are two messages. */
  tellsWhole?: boolean;
  /** Calls that carry the model's name for the tool: its kind, and the argument that is the title. */
  tools?: Readonly<Record<string, { kind: ToolKind; title: string }>>;
  /** Plans are calls of this tool: the argument with the entries, and their field for the content. */
  plan?: { tool: string; entries: string; content: string };
  /** The head of tool outputs that is meant for the model; its group `exitCode` is read separately. */
  outputHead?: RegExp;
}
