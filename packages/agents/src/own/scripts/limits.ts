/** Limits of a script; a script that exceeds one is ended. */
export interface ScriptLimits {
  /** CPU time of the script itself, ms; time spent waiting for a tool, and so for a person, does not count. */
  timeMs: number;
  memoryBytes: number;
  /** Calls of tools in total. */
  calls: number;
  /** Calls that run at the same time; further calls wait. */
  parallelCalls: number;
  /** Characters of printed text, and separately of the result as JSON. */
  outputCharacters: number;
}

export const defaultLimits: ScriptLimits = {
  timeMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  calls: 200,
  parallelCalls: 8,
  outputCharacters: 100_000,
};

/** The most characters of a script, and of a call's input: parsing more would keep the server busy. */
export const longestInput = 4 * 1024 * 1024;
