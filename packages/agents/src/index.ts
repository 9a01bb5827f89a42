/** How Liminal runs agents: the contract, and what all providers share. Each kind of agent has its own entry point. */
export * from './base/driver-provider.ts';
export * from './base/semaphore.ts';
export type * from './client-files.ts';
export type * from './client-terminals.ts';
export type * from './driver.ts';
export * from './errors.ts';
export * from './hidden-folders.ts';
export * from './process/index.ts';
export type * from './project-settings.ts';
export * from './provider.ts';
export * from './registry.ts';
