/** Where Liminal keeps what it must not lose: the contracts. Each driver has an entry point of its own beside this one. */
export type * from './coordination.ts';
export * from './errors.ts';
export * from './event-log.ts';
export * from './others-first.ts';
export * from './response-store.ts';
export * from './storage.ts';
