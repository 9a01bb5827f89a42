import type { Runtime } from './api.ts';
import { forwardCommands } from './commands.ts';
import { ClusterRuntime } from './cluster/index.ts';
import { recover } from './history/index.ts';
import { enabledArchive } from './enabled-archive.ts';
import { Roots } from './roots.ts';
import { type RuntimeOptions, SessionRuntime } from './runtime.ts';
import { tracedStore } from './tracing/index.ts';

/**
 * Ends the runs that an earlier server left open, and returns a ready runtime. If the storage offers coordination, this
 * server shares the sessions with other servers, and does not end the open runs of other servers.
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const now = options.now ?? Date.now;
  const roots = await Roots.open(options.roots, options.hiddenFolders);
  const { coordination } = options.storage;
  if (coordination) return ClusterRuntime.open(options, coordination, roots, now);
  const storage = {
    ...options.storage,
    ...enabledArchive(options.storage, options.settings),
    meter: options.meter,
    store: tracedStore(options.storage.store, options.tracing),
  };
  const waiting = await recover(storage, () => new Date(now()).toISOString());
  const runtime = new SessionRuntime(options, roots, now);
  for (const sessionId of waiting) await runtime.resume(sessionId);
  return Object.assign(
    runtime,
    forwardCommands(async (request) => runtime.run(request)),
  );
}
