import { useStage } from './stage.ts';

/** What the files that `agents.test.ts` has play on: to set it for each of them costs three seconds of work. */
export const stage = useStage({ codex: {} });
