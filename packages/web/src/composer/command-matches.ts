import type { AgentCommand } from '@liminal/protocol';

/**
 * Returns the typed part of a command's name; undefined unless the message is a slash and the beginning of one word.
 */
export function commandPrefix(text: string): string | undefined {
  return /^\/(\S*)$/.exec(text)?.[1];
}

/** Whether the text is the command's name or one of its aliases. */
export const isNamed = ({ name, aliases = [] }: AgentCommand, text: string): boolean =>
  name === text || aliases.includes(text);

/** Returns the hint of the command that has just been typed. */
export function commandHint(commands: readonly AgentCommand[], text: string): string | undefined {
  const name = /^\/(\S+) $/.exec(text)?.[1];
  return name === undefined ? undefined : commands.find((one) => isNamed(one, name))?.hint;
}

/**
 * Returns the matching commands: first those with a name or alias that begins with the text, then those with a name or
 * alias that contains it.
 */
export function matchCommands(commands: readonly AgentCommand[], prefix: string): AgentCommand[] {
  const typed = prefix.toLowerCase();
  const rank = ({ name, aliases = [] }: AgentCommand): number => {
    const names = [name, ...aliases].map((one) => one.toLowerCase());
    if (names[0]?.startsWith(typed) === true) return 0;
    if (names.some((one) => one.startsWith(typed))) return 1;
    return names.some((one) => one.includes(typed)) ? 2 : 3;
  };
  const ranked = commands.map((command) => ({ command, rank: rank(command) }));
  return ranked
    .filter((one) => one.rank < 3)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ command }) => command);
}
