/** What marks the processes of an outer Liminal's agent must stay, so that the outer one can end them. */
const kept = ['LIMINAL_MARK'];

/** Takes Liminal's own variables, the token among them, out of an environment that agents will inherit. */
export function dropOwnVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith('LIMINAL_') && !kept.includes(name)) delete env[name];
  }
}
