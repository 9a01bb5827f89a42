import { withoutRelative } from './search-path.ts';

/**
 * Returns an agent's environment: the server's without Liminal's own variables, plus the configured variables and the
 * process mark. The search path has only absolute folders, so that a project can replace neither the agent's program
 * nor the interpreter in a script's first line.
 */
export function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  configured: Record<string, string>,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !name.startsWith('LIMINAL_'));
  const all: NodeJS.ProcessEnv = { ...Object.fromEntries(kept), ...configured, ...mark };
  const { PATH: searchPath } = all;
  return searchPath === undefined ? all : { ...all, PATH: withoutRelative(searchPath) };
}
