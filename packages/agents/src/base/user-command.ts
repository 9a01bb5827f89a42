/** Commands that people run with messages that begin with `!`, as in agents' own terminals. */
import { maxPrinted, runCommand, type CommandEnd } from './run-command.ts';
import { ShownOutput } from './shown-output.ts';

/** Returns the command in a message; undefined for other messages. */
export const userCommandIn = (message: string): string | undefined =>
  message.startsWith('!') ? message.slice(1).trim() || undefined : undefined;

/** The answer to a command if the server's settings forbid commands. */
export const commandsForbidden =
  'This server does not run people’s commands (`userCommands` in its settings). Nothing was run or sent. To send the text unchanged, put a space before it.';

/** The time limit of a command, ms: the same as in Codex. */
const limitMs = 3_600_000;
/** Characters of a command's output that the agent's model reads: the beginning and the end. */
const forModel = { head: 12_000, tail: 18_000 };

export interface UserCommand {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Ends the command and all its descendants. */
  signal: AbortSignal;
  /** Called with the output for people as it arrives. */
  print: (text: string) => void;
}

/** The result of a command. */
export interface UserCommandResult {
  /** The output for the agent's model. */
  output: string;
  exitCode: number | null;
  /** Why the command failed, as a sentence; undefined if the command succeeded. */
  problem: string | undefined;
}

/** Runs a command without asking for permission, then ends all its descendants. Rejects if the command cannot start. */
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
  return { output, exitCode: end.exitCode, problem: commandProblem(end) };
}

function commandProblem({ exitCode, signal, cause }: CommandEnd): string | undefined {
  if (cause === 'timeout') return `The command was ended after ${limitMs / 60_000} minutes.`;
  if (cause === 'stopped') return 'It was stopped.';
  if (cause === 'flood') {
    return `The command was ended because it printed more than ${maxPrinted / 1024 / 1024} MiB.`;
  }
  if (signal !== null) return `The command was ended by ${signal}.`;
  return exitCode === 0 ? undefined : `Exit code ${exitCode}.`;
}
