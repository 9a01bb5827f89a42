/** How Liminal drives agents: the contract, and what every provider shares. Each kind of agent has an entry point of its own. */
export * from './base/driver-provider.ts';
export * from './base/start-limit.ts';
export type * from './driver.ts';
export * from './errors.ts';
export type * from './mcp-servers.ts';
export * from './process/index.ts';
export * from './provider.ts';
export * from './registry.ts';
