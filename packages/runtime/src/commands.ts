/** The protocol's commands as requests. The runtime runs the requests, and servers send them to each other. */
import { type CommandName, commands, type Operation, readArguments } from '@liminal/protocol';
import { z } from 'zod';
import type { Runtime } from './api.ts';

/** The methods that run the commands. */
export type Commands = Pick<Runtime, CommandName>;

const runtimeCommands = [
  'loadSession',
  'send',
  'notify',
  'fork',
  'archive',
  'unarchive',
  'pin',
  'unpin',
  'deleteSession',
] as const satisfies CommandName[];
/** The commands that need more than their session. The runtime has one function for each of these commands. */
export type RuntimeCommands = Pick<Commands, (typeof runtimeCommands)[number]>;

type WithoutId<Method> = Method extends (sessionId: string, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;
/** All other commands, as methods of their session: without the session's id. */
export type SessionCommands = {
  [Name in Exclude<CommandName, keyof RuntimeCommands>]: WithoutId<Commands[Name]>;
};

export function isRuntimeCommand(command: CommandName): command is keyof RuntimeCommands {
  return runtimeCommands.some((name) => name === command);
}

/**
 * The commands that a server does not refuse as soon as it begins to shut down. `closed`: refused once the server's
 * turns have ended. `never`: never refused. Every command that is not listed begins work, and is refused as soon as the
 * server begins to shut down.
 */
export const refusedOnce: Partial<Record<CommandName, 'closed' | 'never'>> = {
  loadSession: 'closed',
  send: 'closed',
  steer: 'closed',
  fork: 'closed',
  archive: 'closed',
  unarchive: 'closed',
  pin: 'closed',
  unpin: 'closed',
  deleteSession: 'closed',
  editQueued: 'never',
  removeQueued: 'never',
  moveQueued: 'never',
  sendQueuedNow: 'never',
  cancel: 'never',
  notify: 'never',
  stopTask: 'never',
  background: 'never',
  kill: 'never',
  answerApproval: 'never',
  setConfig: 'never',
  rename: 'never',
};

const names = z.enum(Object.keys(commands) as CommandName[]);

export const CommandRequest = z.object({
  command: names,
  sessionId: z.string(),
  /** The arguments after the session's id. */
  args: z.array(z.unknown()),
});
export type CommandRequest = z.infer<typeof CommandRequest>;

/** Runs a command. Rejects with the command's error. */
export type RunCommand = (request: CommandRequest) => Promise<unknown>;

/** Runs a command whose arguments may come from another server. Rejects with the command's error, or a ZodError. */
export async function runCommand(run: RunCommand, request: CommandRequest): Promise<unknown> {
  const { command, sessionId } = request;
  const [, ...args] = readArguments(commands[command], [sessionId, ...request.args]);
  return run({ command, sessionId, args });
}

/** The answer to a command from another server, without unknown fields. Throws a ZodError. */
export function readAnswer({ command }: CommandRequest, given: unknown): unknown {
  const { answer }: Operation = commands[command];
  return answer?.parse(given);
}

/** All commands, each of which calls `forward` with its own name and arguments. */
export function forwardCommands(forward: RunCommand): Commands {
  const methods = names.options.map((command) => {
    const method = async (sessionId: string, ...args: unknown[]) =>
      forward({ command, sessionId, args });
    return [command, method];
  });
  return Object.fromEntries(methods) as Commands;
}
