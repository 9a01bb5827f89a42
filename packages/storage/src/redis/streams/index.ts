/** How streams are read: many of them over one connection a node, each entry as the log or a channel wrote it. */
export { constantsIn, encodeConstants, idOf, progressOf, rowOf } from './rows.ts';
export type { StreamEntry } from './rows.ts';
export { StreamReader } from './stream-reader.ts';
