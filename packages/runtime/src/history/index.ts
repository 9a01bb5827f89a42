/**
 * The stored conversation: its pages, the tail of turns that a subscriber has missed, and the end of a run that has
 * lost its writer. In: the log, the store, open runs. Out: pages, tails, ended runs. Code in this folder writes no live
 * turn.
 */
export { hasBegun, findSteeredTurn } from './has-begun.ts';
export { HistoryReader } from './history.ts';
export type { PageOptions, ResumedHistory } from './history.ts';
export { importTurns } from './imports.ts';
export { hasEndInHistory, archiveEvents, readRun } from './read-run.ts';
export type { RunEndNotifier, Storage } from './read-run.ts';
export { endInHistory, endLostRun, recover, recoverSession } from './recovery.ts';
export { withKnownIds } from './stored-pairs.ts';
