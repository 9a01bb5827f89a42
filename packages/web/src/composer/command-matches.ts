import type { AgentCommand } from '@liminal/protocol';

/** The typed part of a command's name: undefined unless the message is a slash and the beginning of one word. */
export function commandPrefix(text: string): string | undefined {
  return /^\/(\S*)$/.exec(text)?.[1];
}

/** The hint of the command that has just been typed. */
export function commandHint(commands: readonly AgentCommand[], text: string): string | undefined {
  const name = /^\/(\S+) $/.exec(text)?.[1];
  return commands.find((command) => command.name === name)?.hint;
}

/** Matching commands: first those that begin with the text, then those that contain it. */
export function matchCommands(commands: readonly AgentCommand[], prefix: string): AgentCommand[] {
  const typed = prefix.toLowerCase();
  const named = (command: AgentCommand) => command.name.toLowerCase();
  const begin = commands.filter((command) => named(command).startsWith(typed));
  const contain = commands.filter(
    (command) => named(command).includes(typed) && !named(command).startsWith(typed),
  );
  return [...begin, ...contain];
}
