import { childEnvironment } from '../../../base/child-environment.ts';

interface CommandEnvironment {
  /** Names of environment variables that the command does not get. */
  hidden: ReadonlySet<string>;
  /** Whether the command is read-only. For a read-only command, git starts no file monitor and no hooks. */
  onlyReads: boolean;
  /** Additional environment variables. */
  more?: Record<string, string>;
}

/**
 * Returns the environment of a command. The environment keeps git from using a folder as a bare repository just because
 * the folder has files with the right names: file tools can create such files, including a `config` with programs that
 * git then starts.
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
    // Otherwise a hook in the project, for example `.husky/post-index-change`, would run when git refreshes the index.
    ...(onlyReads && { 'core.fsmonitor': 'false', 'core.hooksPath': '/dev/null' }),
  };
  return childEnvironment(inherited, { ...gitSettings(inherited, settings), ...more }, {});
}

/**
 * Variables that add these settings for git, after the settings that the environment already adds. These settings
 * override every file.
 */
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
