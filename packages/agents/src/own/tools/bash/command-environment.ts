import { childEnvironment } from '../../../base/child-environment.ts';

interface CommandEnvironment {
  /** Names of environment variables that the command does not get. */
  hidden: ReadonlySet<string>;
  /** Whether the command only reads. Git then starts no file monitor and no hook. */
  onlyReads: boolean;
  /** Additional environment variables. */
  more?: Record<string, string>;
}

/**
 * The environment of a command. It keeps git from accepting a folder as a repository only because files with the right
 * names are in it: the file tools can create such files, and the `config` among them names programs that git would start.
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
    // A hook in the project, for example `.husky/post-index-change`, would run when the index is refreshed.
    ...(onlyReads && { 'core.fsmonitor': 'false', 'core.hooksPath': '/dev/null' }),
  };
  return childEnvironment(inherited, { ...gitSettings(inherited, settings), ...more }, {});
}

/** Variables that add these settings for git after those that the environment already adds. They override every file. */
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
