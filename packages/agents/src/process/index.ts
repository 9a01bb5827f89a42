/** Ends processes, so that no process outlives its session or the server (invariant 8). */
export { endTree, type EndOptions, type Ended, type TreeTarget } from './end-tree.ts';
export { type AgentProcesses, agentProcesses } from './count-agents.ts';
export { startGuard, type Guard } from './guard.ts';
export { markWithin, processMark, type ProcessMark } from './mark.ts';
export { reapOrphans } from './orphans.ts';
export { processSupport, type ProcessSupport } from './support.ts';
