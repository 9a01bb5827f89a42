/** For tests of anything that reads events: whole runs, written by hand or generated, and what they must come to. */
export { eventScripts } from './event-scripts.ts';
export { naiveTurn, naiveViews } from './naive-folds.ts';
export { runOf } from './run-of.ts';
