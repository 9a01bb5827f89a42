import { z } from 'zod';
import { ShownOutput } from '../../base/shown-output.ts';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { commandEnvironment } from './bash/command-environment.ts';
import { commandPermissions, hasReading, onlyReads } from './bash/command-rules.ts';
import { leadsOut, mayShowHidden } from './bash/hidden-files.ts';
import { mayStartPrograms } from './bash/repository-programs.ts';
import { maxPrinted, runCommand, type CommandEnd } from '../../base/run-command.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const defaultTimeout = 120_000;
const maxTimeout = 600_000;
/** The numbers of characters at the output's beginning and end that the model gets. */
const forModel = { head: 12_000, tail: 18_000 };

/** The longest command, in characters, because the system rejects longer commands. */
const maxCommand = 30_000;

/** Variables with keys of model servers, which commands do not get. */
const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

const Input = z.object({
  command: z.string().min(1).max(maxCommand).describe('A command for bash.'),
  description: z
    .string()
    .max(500)
    .optional()
    .describe('What it does, in a few words, for the user.'),
  timeout: z
    .int()
    .min(1)
    .max(maxTimeout)
    .optional()
    .describe(`Time until it is ended, in ms; ${defaultTimeout} if not given.`),
});
type Input = z.infer<typeof Input>;

/**
 * Returns a tool that runs shell commands in the project folder, with all rights of the server's user.
 * @param hiddenVariables - Names of additional environment variables that commands do not get.
 */
export function bashTool(
  hiddenFolders: HiddenFolders,
  hiddenVariables: readonly string[] = [],
): Tool<Input> {
  const hidden = new Set([...keys, ...hiddenVariables]);
  return {
    name: 'bash',
    description:
      'Runs a command with bash in the project folder and gives its output. There is no input and no terminal. All that it started, also in the background, ends with the call.',
    kind: 'execute',
    input: Input,
    async describe({ command }) {
      refuseNul(command);
      return { title: command };
    },
    async needs({ command }, { projectDir }) {
      // If the repository may start programs, no command counts as read-only.
      const mayStart =
        hasReading(command) &&
        (await mayStartPrograms(projectDir, { onlyReads: onlyReads(command), hidden }));
      return commandPermissions(
        command,
        (words) =>
          mayStart ||
          leadsOut(words, projectDir) ||
          mayShowHidden(words, projectDir, hiddenFolders),
      );
    },
    async run({ command, timeout = defaultTimeout }, context) {
      refuseNul(command);
      let output = '';
      const parts = [
        new ShownOutput((text) => context.print(text)),
        new ShownOutput((text) => void (output += text), forModel),
      ];
      const end = await runCommand({
        command,
        cwd: context.projectDir,
        timeout,
        env: commandEnvironment({ hidden, onlyReads: onlyReads(command) }),
        signal: context.signal,
        onOutput: (text) => {
          for (const part of parts) part.add(text);
        },
      }).catch((cause: unknown) => {
        throw new ToolError(cause instanceof Error ? cause.message : String(cause), { cause });
      });
      for (const part of parts) part.end();
      const printed = output === '' ? '(It printed nothing.)' : output;
      const why = sentence(end, timeout);
      return {
        output: why === undefined ? printed : `${printed.replace(/\n$/, '')}\n(${why})`,
        success: end.exitCode === 0 && end.cause === undefined,
        exitCode: end.exitCode,
      };
    },
  };
}

function refuseNul(command: string): void {
  if (command.includes('\0')) throw new ToolError('A command must not contain a NUL character.');
}

function sentence({ exitCode, signal, cause }: CommandEnd, timeout: number): string | undefined {
  if (cause === 'timeout') {
    return `It was ended after ${timeout} ms, with all that it started. Set timeout for more time.`;
  }
  if (cause === 'stopped') return 'It was stopped, with all that it started.';
  if (cause === 'flood') {
    return `It was ended because it printed more than ${maxPrinted / 1024 / 1024} MiB.`;
  }
  if (signal !== null) return `It was ended by ${signal}.`;
  return exitCode === 0 ? undefined : `exit code ${exitCode}`;
}
