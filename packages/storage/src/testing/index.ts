/** One suite per contract; every driver runs both. */
export * from './event-log-suite.ts';
export * from './response-store-suite.ts';
export type * from './subject.ts';
