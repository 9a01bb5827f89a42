/** An agent's environment: the server's without Liminal's own variables, plus the configured ones and its mark. */
export function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  configured: Record<string, string>,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !name.startsWith('LIMINAL_'));
  return { ...Object.fromEntries(kept), ...configured, ...mark };
}
