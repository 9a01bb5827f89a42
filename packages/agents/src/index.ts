/** How Liminal runs agents: the contract, and what all providers share. Each kind of agent has its own entry point. */
export * from './base/driver-provider.ts';
export * from './base/fork-stored.ts';
export type { HeldSession, OpenOptions } from './base/held-session.ts';
export * from './contract/semaphore.ts';
export type * from './contract/client-files.ts';
export type * from './contract/client-terminals.ts';
export type * from './contract/driver.ts';
export { errors as agentErrors, ProviderError, SessionInUseError } from './contract/errors.ts';
export type { ProviderErrorCode } from './contract/errors.ts';
export * from './base/hidden-folders.ts';
export * from './process/index.ts';
export type * from './contract/project-settings.ts';
export * from './contract/provider.ts';
export * from './base/registry.ts';
