/**
 * Reads streams; one connection per node serves many streams. In: streams, and the positions at which to begin. Out:
 * each entry when it is written.
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
