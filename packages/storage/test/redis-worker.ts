// A projector that prints the runs that it claims, until it is killed.
import { openRedis } from '../src/redis/index.ts';

const [url = '', claimIdleMs] = process.argv.slice(2);
const { coordination } = await openRedis({ url, claimIdleMs: Number(claimIdleMs) });
for await (const { runId } of coordination.registry.claims('doomed', new AbortController().signal))
  console.log(runId);
