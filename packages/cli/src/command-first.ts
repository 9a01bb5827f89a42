import type { Command, Option } from 'commander';
import { ConfigError } from './config/errors.ts';

/**
 * The command line with its command in front: `--port 1 doctor` is `doctor --port 1`. Throws `ConfigError` for a
 * command that there is not, which would otherwise be taken for an argument of the one that needs no name.
 */
export function commandFirst(program: Command, args: readonly string[]): string[] {
  const at = placeOfCommand(args, [
    ...program.options,
    ...program.commands.flatMap((command) => command.options),
  ]);
  const name = args[at];
  if (name === undefined || name.startsWith('-')) return [...args];
  const known = program.commands.map((command) => command.name());
  if (name !== 'help' && !known.includes(name)) {
    throw new ConfigError(`There is no command "${name}". There are: ${known.join(', ')}.`);
  }
  return [name, ...args.slice(0, at), ...args.slice(at + 1)];
}

/** Where the first word stands that is neither an option nor an option's value; at an option that nobody knows. */
function placeOfCommand(args: readonly string[], options: readonly Option[]): number {
  let at = 0;
  for (;;) {
    const [flag = '', value] = (args[at] ?? '').split('=');
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option === undefined) return at;
    at += option.required && value === undefined ? 2 : 1;
  }
}
