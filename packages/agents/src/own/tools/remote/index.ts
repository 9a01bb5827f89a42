/**
 * Tools whose calls run in workers. For the server, makes tools with the same names from the given tools; the new tools
 * send their calls to workers through a queue of tasks. For a worker, makes the loop that runs such calls.
 */
export { remoteTools } from './remote-tools.ts';
export { serveTools } from './serve-tools.ts';
export type { ToolQueue } from './task-queue.ts';
