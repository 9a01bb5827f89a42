// A projector that takes runs upon itself and says which, until it is killed.
import { openRedis } from '../src/redis/index.ts';

const [url = '', claimIdleMs] = process.argv.slice(2);
const { coordination } = await openRedis({ url, claimIdleMs: Number(claimIdleMs) });
for await (const { runId } of coordination.registry.claims('doomed', new AbortController().signal))
  console.log(runId);
