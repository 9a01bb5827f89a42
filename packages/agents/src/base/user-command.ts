/** Commands that people run themselves, as agents' own terminals have it: messages that begin with `!`. */
import { maxPrinted, runCommand, type CommandEnd } from '../tools/bash/run-command.ts';
import { ShownOutput } from './shown-output.ts';

/** The command in a message; undefined for words. */
export const userCommandIn = (message: string): string | undefined =>
  message.startsWith('!') ? message.slice(1).trim() || undefined : undefined;

/** The answer to a command where the server's settings forbid them. */
export const commandsForbidden =
  'This server does not run people’s commands (`userCommands` in its settings). Nothing was run or sent. To send the words as they are, put a blank before them.';

/** As long as Codex lets such a command run, ms. */
const limitMs = 3_600_000;
/** The agent's model reads the beginning and the end of what a command printed (characters). */
const forModel = { head: 12_000, tail: 18_000 };

export interface UserCommand {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Ends the command, with all that it started. */
  signal: AbortSignal;
  /** Gets the output for people as it comes. */
  print: (text: string) => void;
}

/** How a command has ended. */
export interface UserCommandResult {
  /** The output for the agent's model. */
  output: string;
  exitCode: number | null;
  /** Why it failed, as a sentence; undefined if it did not. */
  problem: string | undefined;
}

/** Runs a command to its end, without asking anyone. Nothing that it started is left. Rejects if it cannot be started. */
export async function runUserCommand(options: UserCommand): Promise<UserCommandResult> {
  let output = '';
  const parts = [
    new ShownOutput(options.print),
    new ShownOutput((text) => void (output += text), forModel),
  ];
  const onOutput = (text: string): void => {
    for (const part of parts) part.add(text);
  };
  const end = await runCommand({ ...options, timeout: limitMs, onOutput });
  for (const part of parts) part.end();
  return { output, exitCode: end.exitCode, problem: problemOf(end) };
}

function problemOf({ exitCode, signal, cause }: CommandEnd): string | undefined {
  if (cause === 'timeout') return `It was ended after ${limitMs / 60_000} minutes.`;
  if (cause === 'stopped') return 'It was stopped.';
  if (cause === 'flood') {
    return `It was ended because it printed more than ${maxPrinted / 1024 / 1024} MiB.`;
  }
  if (signal !== null) return `It was ended by ${signal}.`;
  return exitCode === 0 ? undefined : `Exit code ${exitCode}.`;
}
