/** What a script may use; beyond it, it is ended. */
export interface ScriptLimits {
  /** Its own work, in ms of CPU time; waiting for a tool, and so for a person, costs nothing. */
  timeMs: number;
  memoryBytes: number;
  /** Calls of tools, all in all. */
  calls: number;
  /** Calls that run at once; the others wait. */
  parallelCalls: number;
  /** What it prints, and apart from that its result as JSON. */
  outputCharacters: number;
}

export const defaultLimits: ScriptLimits = {
  timeMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  calls: 200,
  parallelCalls: 8,
  outputCharacters: 100_000,
};

/** Characters of a script, and of a call's input: more would keep the server busy with reading it. */
export const longestInput = 4 * 1024 * 1024;
