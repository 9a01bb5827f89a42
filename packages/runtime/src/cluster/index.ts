/**
 * Several servers that act as one, on one log and one store: which server owns which session, forwarding commands to
 * the owner, and showing the sessions of other servers. In: the commands of a single server. Out: the same answers.
 */
export { ClusterRuntime } from './cluster-runtime.ts';
export { startProjectorWorker } from './projector-worker.ts';
export type { ProjectorWorker } from './projector-worker.ts';
