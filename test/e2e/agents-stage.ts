import { useStage } from './stage.ts';

/** The stage of the files that `agents.test.ts` imports; setting a stage up for each file would take three seconds. */
export const stage = useStage({ codex: {} });
