export type AcpSdk = typeof import('@agentclientprotocol/sdk');

/**
 * Loads the library when the first agent starts, so that servers without an ACP agent do not load the library into
 * memory.
 */
export const loadSdk = (): Promise<AcpSdk> => import('@agentclientprotocol/sdk');
