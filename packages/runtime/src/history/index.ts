/**
 * The stored conversation: its pages, the tail that a subscriber has missed, and ending a run that has lost its writer.
 * In: the log, the store, open runs. Out: pages, tails, ended runs. Writes no live turn.
 */
export { hasBegun, findSteeredTurn } from './has-begun.ts';
export { HistoryReader } from './history.ts';
export type { PageOptions, ResumedHistory } from './history.ts';
export { importTurns } from './imports.ts';
export { hasEndInHistory, archiveEvents, readRun } from './read-run.ts';
export type { RunEndNotifier, Storage } from './read-run.ts';
export { endInHistory, endLostRun, recover, recoverSession } from './recovery.ts';
export { withKnownIds } from './stored-pairs.ts';
