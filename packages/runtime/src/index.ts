/** Sessions: from a user's message through an agent and the log to every subscriber. */
export * from './api.ts';
export { FairSemaphore } from './fair-semaphore.ts';
export { yieldToEventLoop } from '@liminal/storage';
export { RuntimeError } from './errors.ts';
export type { RuntimeErrorCode } from './errors.ts';
export { createRuntime } from './create-runtime.ts';
export { startProjectorWorker } from './cluster/index.ts';
export type { ProjectorWorker } from './cluster/index.ts';
export type { Meter, MeteredTurn } from './meter.ts';
export { checkedParts, unpacked } from './exports/index.ts';
export type { SessionListStorage } from './directory/index.ts';
export type { RuntimeOptions } from './runtime.ts';
export { defaultSettings } from './settings.ts';
export type { Logger, RuntimeSettings } from './settings.ts';
export {
  newId,
  newTrace,
  overrideMethods,
  Stage,
  type TracedRun,
  type Tracing,
} from './tracing/index.ts';
