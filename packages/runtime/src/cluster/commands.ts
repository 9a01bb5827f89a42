/** The protocol's commands as servers send them to each other. */
import { type CommandName, commands, type Operation, readArguments } from '@liminal/protocol';
import { z } from 'zod';
import { perform, type Runtime } from '../api.ts';

/** The methods that run the commands. */
export type Commands = Pick<Runtime, CommandName>;

const names = z.enum(Object.keys(commands) as CommandName[]);

export const CommandRequest = z.object({
  command: names,
  sessionId: z.string(),
  /** The arguments after the session's id. */
  args: z.array(z.unknown()),
});
export type CommandRequest = z.infer<typeof CommandRequest>;

/** Runs a command whose arguments may come from another server. Throws the command's error, or a ZodError. */
export async function runCommand(runtime: Commands, request: CommandRequest): Promise<unknown> {
  const { command, sessionId, args } = request;
  return perform(runtime, command, readArguments(commands[command], [sessionId, ...args]));
}

/** All commands, each of which calls `forward` with its own name and arguments. */
export function forwardCommands(forward: (request: CommandRequest) => Promise<unknown>): Commands {
  const methods = names.options.map((command) => {
    const { answer }: Operation = commands[command];
    const method = async (sessionId: string, ...args: unknown[]) => {
      const given = await forward({ command, sessionId, args });
      return answer?.parse(given);
    };
    return [command, method];
  });
  return Object.fromEntries(methods) as Commands;
}
