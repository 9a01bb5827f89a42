/** How Liminal drives agents: the contract, what every provider shares, and the demo. */
export * from './base/listeners.ts';
export * from './base/start-limit.ts';
export * from './demo/index.ts';
export * from './errors.ts';
export type * from './mcp-servers.ts';
export * from './process/index.ts';
export * from './provider.ts';
export * from './registry.ts';
