/**
 * Tools whose calls run in workers. Gets tools, and a queue of tasks. Makes, for the server, tools with the same names,
 * whose calls go to workers through the queue; and, for a worker, the loop that runs such calls.
 */
export { remoteTools } from './remote-tools.ts';
export { serveTools } from './serve-tools.ts';
export type { ToolQueue } from './task-queue.ts';
