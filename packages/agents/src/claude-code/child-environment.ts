/** Set by a Claude Code that runs this server; a child that saw them would take itself for a part of it. */
const ofOuterClaude = new Set(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT']);

/** Claude Code's environment: the server's without Liminal's own variables, plus the process mark. */
export function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(
    ([name]) => !name.startsWith('LIMINAL_') && !ofOuterClaude.has(name),
  );
  return { ...Object.fromEntries(kept), CLAUDE_AGENT_SDK_CLIENT_APP: 'liminal', ...mark };
}
