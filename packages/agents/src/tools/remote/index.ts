/**
 * Tools that run in workers. In: tools, and a queue of tasks. Out: on the server the same tools, whose calls go through
 * the queue; in a worker, their runs.
 */
export { remoteTools } from './remote-tools.ts';
export { serveTools } from './serve-tools.ts';
export type { ToolQueue } from './task-queue.ts';
