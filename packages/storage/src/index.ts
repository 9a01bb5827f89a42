/** Where Liminal keeps what it must not lose: the contracts. Drivers are opened through `openStorage`. */
export * from './event-log.ts';
export * from './response-store.ts';
