/** The contracts of Liminal's durable storage. Each driver has its own entry point. */
export type * from './blob-store.ts';
export type * from './coordination.ts';
export { errors as storageErrors, StorageError } from './errors.ts';
export type { StorageErrorCode } from './errors.ts';
export type * from './event-archive.ts';
export * from './event-log.ts';
export * from './yield-to-event-loop.ts';
export * from './response-store.ts';
export * from './storage.ts';
export { sessionIdsOf } from './store/session-ids.ts';
