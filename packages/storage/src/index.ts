/** Where Liminal keeps what it must not lose: the contracts, and a function per driver that opens it. */
export * from './errors.ts';
export * from './event-log.ts';
export * from './memory/open.ts';
export * from './response-store.ts';
export * from './storage.ts';
