/** The limits of a script; a script that exceeds a limit is ended. */
export interface ScriptLimits {
  /** The script's own CPU time, in ms; the time in which the script waits for a tool or a person does not count. */
  timeMs: number;
  memoryBytes: number;
  /** The most calls of tools in total. */
  calls: number;
  /** The most calls that run at the same time; further calls wait. */
  parallelCalls: number;
  /** The most characters of printed text, and also of the result as JSON. */
  outputCharacters: number;
}

export const defaultLimits: ScriptLimits = {
  timeMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  calls: 200,
  parallelCalls: 8,
  outputCharacters: 100_000,
};

/** The most characters of a script, and of the input of a call: parsing a longer text would block the server. */
export const longestInput = 4 * 1024 * 1024;
