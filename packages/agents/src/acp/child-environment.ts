/** What an agent inherits: the server's environment less what is Liminal's own, plus what is configured and its mark. */
export function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  configured: Record<string, string>,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !name.startsWith('LIMINAL_'));
  return { ...Object.fromEntries(kept), ...configured, ...mark };
}
