/** What an agent does otherwise than the Agent Client Protocol has it, as data: a table beside each built-in agent. */
export interface AcpQuirks {
  /**
   * A thought comes in parts. Each begins with a chunk that is an empty line, and from the second on each is said
   * again, whole, when all have been.
   */
  thoughtsInParts?: boolean;
  /** After its model broke off, it says the text again from the beginning, and nothing marks that. */
  repeatsAfterRetry?: boolean;
  /** A tool's output, shown as content, stands in a Markdown fence. */
  fencesOutput?: boolean;
  /** A call that has succeeded is not always said to have. */
  losesCompletions?: boolean;
  /** Replayed messages of the user are whole: two in a row are two messages. */
  wholeUserMessages?: boolean;
  /** A prompt that is answered with this value at this path of the answer's `_meta` has failed; its last message says why. */
  failureMeta?: { path: readonly string[]; value: string };
}
