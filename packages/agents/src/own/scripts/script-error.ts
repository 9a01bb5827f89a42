import type { ScriptLimits } from './limits.ts';
import type { Thrown } from './sandbox/inside.ts';

export type ScriptErrorCode =
  /** The code is not JavaScript. */
  | 'SCRIPT_SYNTAX'
  /** The script threw something, or was waiting for something that could not happen. */
  | 'SCRIPT_FAILED'
  | 'SCRIPT_TIMEOUT'
  | 'SCRIPT_MEMORY'
  | 'SCRIPT_CALLS'
  | 'SCRIPT_OUTPUT'
  | 'SCRIPT_CANCELLED'
  /** The script was run again from its beginning, and did something different from its first run. */
  | 'SCRIPT_DEPARTED';

/**
 * The reason why a script has no result. The message is a sentence for the model; line numbers are those of the
 * script's code.
 */
export interface ScriptError {
  code: ScriptErrorCode;
  message: string;
  /** The message, followed by the positions in the script, innermost first. */
  stack?: string;
  /** The value that was thrown, if it was not an Error. */
  details?: unknown;
}

/** The file name of the script's code in stacks. */
export const scriptFile = 'script.js';
/** The text before the code, in the same line as the code's first line. */
export const scriptHead = '(async () => {';
/** The text after the code; it begins with a line end, because the last line of the code may be a comment. */
export const scriptTail = '\n})';

/** The most positions that a stack contains. */
const maxFrames = 20;

interface StackFrame {
  /** The name of the function, if it has one. */
  name: string | undefined;
  line: number;
  column: number;
}

/** Converts a value that a script threw. */
export function thrownError(thrown: Thrown, { outputCharacters }: ScriptLimits): ScriptError {
  const { name, message, stack, value } = thrown;
  const text = (name === undefined ? `It threw ${message}` : `${name}: ${message}`).slice(
    0,
    outputCharacters,
  );
  const isShort = value !== undefined && value.length <= outputCharacters;
  return {
    code: 'SCRIPT_FAILED',
    ...withStack(text, framesIn(stack)),
    ...(isShort && { details: JSON.parse(value) as unknown }),
  };
}

/** Converts the error for a script that could not be parsed. */
export function syntaxErrorOf(thrown: Thrown, limits: ScriptLimits): ScriptError {
  return { ...thrownError(thrown, limits), code: 'SCRIPT_SYNTAX' };
}

export const neverEnds: ScriptError = {
  code: 'SCRIPT_FAILED',
  message: 'The script waits for a promise that nothing can settle.',
};

export const cancelled: ScriptError = {
  code: 'SCRIPT_CANCELLED',
  message: 'The script was cancelled.',
};

export function tooSlow({ timeMs }: ScriptLimits): ScriptError {
  const message = `The script took more than ${timeMs} ms of computing time.`;
  return { code: 'SCRIPT_TIMEOUT', message };
}

export function noMemory({ memoryBytes }: ScriptLimits): ScriptError {
  const message = `The script needed more than ${memoryBytes} bytes of memory.`;
  return { code: 'SCRIPT_MEMORY', message };
}

export function tooManyCalls({ calls }: ScriptLimits): ScriptError {
  return { code: 'SCRIPT_CALLS', message: `The script made more than ${calls} calls.` };
}

export function tooMuchPrinted({ outputCharacters }: ScriptLimits): ScriptError {
  const message = `The script printed more than ${outputCharacters} characters.`;
  return { code: 'SCRIPT_OUTPUT', message };
}

export function longResult(length: number, { outputCharacters }: ScriptLimits): ScriptError {
  const message = `The result has ${length} characters as JSON, of at most ${outputCharacters}.`;
  return { code: 'SCRIPT_OUTPUT', message };
}

export function longScript(length: number, most: number): ScriptError {
  const message = `The script has ${length} characters, of at most ${most}.`;
  return { code: 'SCRIPT_SYNTAX', message };
}

export function deepResult(most: number): ScriptError {
  return { code: 'SCRIPT_OUTPUT', message: `The result is nested more than ${most} levels deep.` };
}

/** Returns the error for a failure of the sandbox itself. */
export function broken(cause: unknown): ScriptError {
  const message = `The script broke its sandbox, which was ended: ${String(cause)}`;
  return { code: 'SCRIPT_FAILED', message };
}

function withStack(
  message: string,
  stackFrames: StackFrame[],
): { message: string; stack?: string } {
  const [first] = stackFrames;
  if (first === undefined) return { message: message };
  const shown = stackFrames.slice(0, maxFrames).map(({ name, line, column }) => {
    const at = `${scriptFile}:${line}:${column}`;
    return `\n    at ${name === undefined ? at : `${name} (${at})`}`;
  });
  const more = stackFrames.length - shown.length;
  if (more > 0) shown.push(`\n    … and ${more} more`);
  return { message: `${message} (line ${first.line})`, stack: message + shown.join('') };
}

/**
 * Parses the positions in a stack of QuickJS: `at name (script.js:2:10)`, or for a syntax error `at script.js:2:10`.
 */
function framesIn(stack = ''): StackFrame[] {
  return stack.split('\n').flatMap((text) => {
    const found = /^ +at (?:(.*) \()?script\.js:(\d+):(\d+)\)?$/.exec(text);
    if (found === null) return [];
    const [, name, line, column] = found;
    const isNamed = name !== undefined && name !== '<anonymous>' && name !== '<eval>';
    const before = line === '1' ? scriptHead.length : 0;
    return {
      name: isNamed ? name : undefined,
      line: Number(line),
      column: Math.max(1, Number(column) - before),
    };
  });
}
