/** Loads the Agent SDK on first use: loading takes a fifth of a second and tens of megabytes. */
export const loadSdk = () => import('@anthropic-ai/claude-agent-sdk');

export type ClaudeSdk = Awaited<ReturnType<typeof loadSdk>>;
