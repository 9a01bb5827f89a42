import { Agent, fetch } from 'undici';

/** For the `fetch` of a model maker's SDK, together with `patience`. */
export const patientFetch = fetch as unknown as typeof globalThis.fetch;

/**
 * Options for `patientFetch`. Node's own fetch gives up after five minutes without headers or without another byte; a
 * local server that reads a long conversation, and a model that thinks, are silent for longer. The session's watchdog
 * says how long is too long.
 */
export const patience = { dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) };

/** The longest time that a timer takes, ms: for an SDK's own limit. */
export const longestTimer = 2 ** 31 - 1;
