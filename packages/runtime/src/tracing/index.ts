/**
 * Traces how a turn's time is spent outside its agent: appends to the log, the projector, writes to the database. In:
 * the operations, and the trace that events carry. Out: one span for each stage of a run, however many operations the
 * stage has. Without tracing, none of this is called.
 */
export { newId, newTrace } from './new-id.ts';
export { overrideMethods } from './override-methods.ts';
export { Stage, type TracedRun } from './stage.ts';
export { tracedLog } from './traced-log.ts';
export { tracedStore } from './traced-store.ts';
export type { Tracing } from './tracing.ts';
