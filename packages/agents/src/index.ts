/** How Liminal drives agents: the contract. One folder per kind of agent lies beside it. */
export * from './errors.ts';
export * from './provider.ts';
