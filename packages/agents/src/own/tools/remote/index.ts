/**
 * Tools that run in workers. In: tools, and a queue of tasks. Out: for the server, the same tools, whose calls go through the
 * queue; for a worker, the loop that runs the calls.
 */
export { remoteTools } from './remote-tools.ts';
export { serveTools } from './serve-tools.ts';
export type { ToolQueue } from './task-queue.ts';
