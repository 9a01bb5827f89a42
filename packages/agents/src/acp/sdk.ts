export type Sdk = typeof import('@agentclientprotocol/sdk');

/** Loads the library when the first agent starts: a server without one does not hold it in memory. */
export const loadSdk = (): Promise<Sdk> => import('@agentclientprotocol/sdk');
