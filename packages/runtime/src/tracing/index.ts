/**
 * Where the time of a turn goes besides its agent: appends to the log, the projector, writes to the database. In: the
 * work itself, and the trace that events carry. Out: a span for each stage of a run, however much work it is. Whoever
 * traces nothing has none of this in the way.
 */
export { newId, newTrace } from './new-id.ts';
export { overriding } from './overriding.ts';
export { Stage, type TracedRun } from './stage.ts';
export { tracedLog } from './traced-log.ts';
export { tracedStore } from './traced-store.ts';
export type { Tracing } from './tracing.ts';
