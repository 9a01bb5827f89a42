import { withoutRelative } from './search-path.ts';

/**
 * Returns an agent's environment: the server's without Liminal's own variables, plus the configured variables and the
 * process mark. The search path has only absolute folders, so a project cannot replace the agent's program, or the
 * interpreter that a script's first line names.
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
