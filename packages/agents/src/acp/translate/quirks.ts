/** What an agent does otherwise than the Agent Client Protocol has it, as data: a table beside each built-in agent. */
export interface AcpQuirks {
  /** The parts of a thought are said again, whole, once they have been streamed. */
  repeatsThoughtParts?: boolean;
  /** After a broken answer of its model it says the text again from the beginning, and does not mark it. */
  repeatsAfterRetry?: boolean;
  /** A prompt that answers `end_turn` has failed if its answer's `_meta` has this value at this path. */
  failureMeta?: { path: readonly string[]; value: string };
}
