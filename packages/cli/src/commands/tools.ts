import { hostname } from 'node:os';
import { reapOrphans, startGuard } from '@liminal/agents';
import { serveTools, toolsForWorkers } from '@liminal/agents/tools';
import { openRedis } from '@liminal/storage/redis';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { usingDataDir } from '../data/using-data-dir.ts';

/**
 * Runs the tool calls of bare models, as a process besides the servers, until a signal. When the worker ends, it also
 * ends all processes that tool calls started.
 */
export async function tools({ shared, dataDir, tools, hiddenVariables }: Config): Promise<number> {
  if (!shared) {
    throw errors.INVALID_CONFIG.loneWorker();
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  const redis = await openRedis({ url: shared.redisUrl, prefix: shared.redisPrefix });
  const guard = await startGuard();
  try {
    await usingDataDir(dataDir, async () => reapOrphans(dataDir));
    console.log('The worker for tools is running.');
    await serveTools(
      toolsForWorkers({ fetch: tools.fetch, hiddenFolders: [dataDir], hiddenVariables }),
      redis.coordination.tasks,
      { worker: `${hostname()}:${process.pid}`, signal: stop.signal },
    );
  } finally {
    await guard.dismiss();
    await redis.close();
  }
  return 0;
}
