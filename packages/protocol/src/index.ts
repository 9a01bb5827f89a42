/** The vocabulary of Liminal. Browser-safe: no Node built-ins, clock, timers, randomness or I/O. */
export * from './content.ts';
export * from './cursor.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './items.ts';
export * from './response.ts';
export * from './sessions.ts';
export * from './upserts.ts';
export * from './usage.ts';
export * from './wire/http.ts';
export * from './wire/websocket.ts';
