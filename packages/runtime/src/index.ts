/** Sessions: from a user's message through an agent and the log to everyone who watches. */
export * from './api.ts';
export * from './errors.ts';
