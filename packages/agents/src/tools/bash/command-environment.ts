import { childEnvironment } from '../../base/child-environment.ts';

interface CommandEnvironment {
  /** Names of variables that the command does not get. */
  hidden: ReadonlySet<string>;
  /** Whether the command is known to read and nothing else. Then git starts no file monitor and no hook. */
  onlyReads: boolean;
  /** More variables. */
  more?: Record<string, string>;
}

/**
 * The environment of a command. Git does not take a folder for a repository only because files with the right names lie
 * in it: the file tools can make such files, and the `config` among them names programs that git would start.
 */
export function commandEnvironment({
  hidden,
  onlyReads,
  more = {},
}: CommandEnvironment): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !hidden.has(name)),
  );
  const settings = {
    'safe.bareRepository': 'explicit',
    // A hook that is kept with the project, `.husky/post-index-change` for example, would run as the index is refreshed.
    ...(onlyReads && { 'core.fsmonitor': 'false', 'core.hooksPath': '/dev/null' }),
  };
  return childEnvironment(inherited, { ...gitSettings(inherited, settings), ...more }, {});
}

/** Variables that set these for git, after those that the environment sets already. They outrank every file. */
function gitSettings(
  inherited: NodeJS.ProcessEnv,
  settings: Record<string, string>,
): Record<string, string> {
  const count = Number(inherited['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const pairs = Object.entries(settings);
  const variables = pairs.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${count + at}`, key],
    [`GIT_CONFIG_VALUE_${count + at}`, value],
  ]);
  return {
    ...(Object.fromEntries(variables) as Record<string, string>),
    GIT_CONFIG_COUNT: String(count + pairs.length),
  };
}
