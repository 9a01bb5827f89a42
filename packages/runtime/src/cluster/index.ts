/**
 * Several servers that act as one, on one log and one store: who owns which session, commands that are passed to it, and
 * sessions of others shown here. In: the same commands as a server alone takes. Out: the same answers, wherever it is.
 */
export { ClusterRuntime } from './cluster-runtime.ts';
export { startProjectorWorker } from './projector-worker.ts';
export type { ProjectorWorker } from './projector-worker.ts';
