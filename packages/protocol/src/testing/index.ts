/** For tests of anything that reads events: whole runs, written by hand or generated. */
export { eventScripts } from './event-scripts.ts';
export { runOf } from './run-of.ts';
