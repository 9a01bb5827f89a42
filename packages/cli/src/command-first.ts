import type { Command, Option } from 'commander';
import { errors } from './errors.ts';

/**
 * Moves the command to the front: `--port 1 doctor` becomes `doctor --port 1`. Throws `ConfigError` for an unknown
 * command, which would otherwise be read as an argument of the default command.
 */
export function commandFirst(program: Command, args: readonly string[]): string[] {
  const at = indexOfCommand(args, [
    ...program.options,
    ...program.commands.flatMap((command) => command.options),
  ]);
  const name = args[at];
  if (name === undefined || name.startsWith('-')) return [...args];
  const known = program.commands.map((command) => command.name());
  if (name !== 'help' && !known.includes(name)) {
    throw errors.INVALID_CONFIG.unknownCommand(name, known);
  }
  return [name, ...args.slice(0, at), ...args.slice(at + 1)];
}

/**
 * Returns the index of the first word that is neither an option nor an option's value, or of the first unknown option.
 */
function indexOfCommand(args: readonly string[], options: readonly Option[]): number {
  let at = 0;
  for (;;) {
    const [flag = '', value] = (args[at] ?? '').split('=');
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option === undefined) return at;
    at += option.required && value === undefined ? 2 : 1;
  }
}
