/**
 * Several servers that act as one server, on one log and one store. Decides which server owns which session, forwards
 * commands to the owner, and shows the sessions of other servers. In: the commands of a single server. Out: the answers
 * of a single server.
 */
export { ClusterRuntime } from './cluster-runtime.ts';
export { startProjectorWorker } from './projector-worker.ts';
export type { ProjectorWorker } from './projector-worker.ts';
