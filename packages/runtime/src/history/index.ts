/**
 * What has been said and is over: pages of it, what a reader has missed, and how a run without a writer becomes history.
 * In: the log, the store, runs under way. Out: pages, tails, ended runs. Writes no live turn.
 */
export { hasBegun, turnSaidIn } from './has-begun.ts';
export { HistoryReader } from './history.ts';
export type { PageOptions, Resumed } from './history.ts';
export { importTurns } from './imports.ts';
export { hasEndInHistory, keepEvents, readRun } from './read-run.ts';
export type { RunWatchers, Storage } from './read-run.ts';
export { endInHistory, endLostRun, recover, recoverSession } from './recovery.ts';
export { withKnownIds } from './stored-pairs.ts';
