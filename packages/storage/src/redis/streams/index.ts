/**
 * Reads streams, many of them over one connection per node. In: streams, and where to begin. Out: each entry as it was
 * written.
 */
export {
  constantsIn,
  encodeConstants,
  fieldsOf,
  entryIdOf,
  progressOf,
  eventRowOf,
  valuesOf,
  wirePayload,
} from './rows.ts';
export type { StreamEntry } from './rows.ts';
export { RunEntries } from './run-entries.ts';
export { StreamReader } from './stream-reader.ts';
