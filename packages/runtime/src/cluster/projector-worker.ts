import { randomUUID } from 'node:crypto';
import type { Coordination, OpenedStorage } from '@liminal/storage';
import { Projector } from './projector.ts';
import { recoverSession, type Storage } from '../history/index.ts';
import {
  defaultSettings,
  defaultUpsertSettings,
  type Logger,
  type RuntimeSettings,
} from '../settings.ts';
import { enabledArchive } from '../enabled-archive.ts';
import { lookShare, LostSessions } from './lost-sessions.ts';
import { Ownership, ttlShare } from './ownership.ts';
import { postSession } from './posted-state.ts';
import { PostedEnds } from './session-cluster.ts';
import { SessionStates } from './session-states.ts';
import { TroubleLog } from './trouble-log.ts';
import type { Tracing } from '../tracing/index.ts';
import { retry } from '../retry.ts';

/** Delay before a posting is retried, in ms. */
const retryMs = 500;

interface ProjectorWorkerOptions {
  storage: Storage & Pick<OpenedStorage, 'eventArchive' | 'blobs'> & { coordination: Coordination };
  logger: Logger;
  settings?: Partial<RuntimeSettings>;
  /** Receives spans; without it, nothing is traced. */
  tracing?: Tracing;
  /** Called when a session whose owner was lost no longer has an open turn. */
  onRecovered?: (sessionId: string) => void;
}

/** The background work of a cluster: projects runs, and ends the turns of dead servers. */
export interface ProjectorWorker {
  /** The number of events that history lacks; counts only the runs that this worker projects. */
  readonly lagEvents: number;
  close(): Promise<void>;
}

/**
 * Projects runs into history (unless the settings leave the projection to other programs), and ends the turns of dead
 * servers. The worker runs no agent, and owns a session only while the worker ends that session's open turns.
 */
export function startProjectorWorker(options: ProjectorWorkerOptions): ProjectorWorker {
  const { logger, tracing } = options;
  const { leases, board, registry, upserts } = options.storage.coordination;
  const { leaseMs, projects, publishUpserts, ...set } = { ...defaultSettings, ...options.settings };
  const trouble = new TroubleLog(logger);
  const onTrouble = (error: unknown): void => trouble.note(error);
  const storage = {
    ...options.storage,
    ...enabledArchive(options.storage, options.settings),
    cluster: new PostedEnds({ board, leases, onTrouble }),
  };
  const { store, blobs } = storage;
  const ownership = new Ownership({
    leases,
    store,
    instanceId: randomUUID(),
    ttlMs: leaseMs * ttlShare,
    onLost: () => {},
    onTrouble,
  });
  const sessionStates = new SessionStates({ board, store, blobs, ownership });
  const closing = new AbortController();
  const recover = async (sessionId: string): Promise<void> => {
    const lease = await ownership.take(sessionId);
    if (!lease) return;
    try {
      const { token: fence } = lease;
      await recoverSession(storage, sessionId, fence, () => new Date().toISOString());
      const post = async (): Promise<void> => {
        // The session may have been deleted.
        if (!(await storage.store.getSession(sessionId))) return;
        await postSession(board, { ...(await sessionStates.stored(sessionId)), fence });
      };
      // The posting is retried until it succeeds: no other server would report that the turn is over.
      await retry(post, { signal: closing.signal, everyMs: retryMs, onTrouble });
    } finally {
      await ownership.release(sessionId);
    }
    options.onRecovered?.(sessionId);
  };
  const everyMs = leaseMs * lookShare;
  const lost = new LostSessions({ log: storage.log, ownership, everyMs, recover, onTrouble });
  const publishing = { upserts, upsertSettings: { ...defaultUpsertSettings, ...set.upserts } };
  const projector = projects
    ? new Projector({
        storage,
        registry,
        board,
        logger,
        ...(publishUpserts && publishing),
        ...(tracing && { tracing }),
      })
    : undefined;
  return {
    get lagEvents() {
      return projector?.unsaved ?? 0;
    },
    close: async () => {
      closing.abort();
      await lost.close();
      await projector?.close();
      await ownership.close();
    },
  };
}
