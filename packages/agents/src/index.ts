/** How Liminal drives agents: the contract, and what every provider shares. Each kind of agent has an entry point of its own. */
export * from './base/listeners.ts';
export * from './base/start-limit.ts';
export * from './errors.ts';
export type * from './mcp-servers.ts';
export * from './process/index.ts';
export * from './provider.ts';
export * from './registry.ts';
