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
import { keeping } from '../keeping.ts';
import { LOOK_SHARE, LostSessions } from './lost-sessions.ts';
import { Ownership, TTL_SHARE } from './ownership.ts';
import { postSession } from './posted-state.ts';
import { PostedEnds } from './session-cluster.ts';
import { SessionStates } from './session-states.ts';
import { TroubleLog } from './trouble-log.ts';
import type { Tracing } from '../tracing/index.ts';
import { untilDone } from '../until-done.ts';

/** How long to wait before a posting is tried again, in ms. */
const RETRY_MS = 500;

interface ProjectorWorkerOptions {
  storage: Storage & Pick<OpenedStorage, 'archive' | 'blobs'> & { coordination: Coordination };
  logger: Logger;
  settings?: Partial<RuntimeSettings>;
  /** Where spans go; if not given, nothing is traced. */
  tracing?: Tracing;
  /** A session whose owner was lost has no open turn any more. */
  onRecovered?: (sessionId: string) => void;
}

/** The work of a server besides its sessions, in a process of its own. */
export interface ProjectorWorker {
  /** Events of the runs projected here that history lacks. */
  readonly lagEvents: number;
  close(): Promise<void>;
}

/**
 * Brings runs into history (unless the settings say that others do), and ends the turns of dead servers. It runs no
 * agent, and owns a session only while it ends what was left open there.
 */
export function startProjectorWorker(options: ProjectorWorkerOptions): ProjectorWorker {
  const { logger, tracing } = options;
  const { leases, board, registry, upserts } = options.storage.coordination;
  const { leaseMs, projects, publishUpserts, ...set } = { ...defaultSettings, ...options.settings };
  const trouble = new TroubleLog(logger);
  const onTrouble = (error: unknown): void => trouble.note(error);
  const storage = {
    ...options.storage,
    ...keeping(options.storage, options.settings),
    cluster: new PostedEnds({ board, leases, onTrouble }),
  };
  const { store, blobs } = storage;
  const ownership = new Ownership({
    leases,
    store,
    instanceId: randomUUID(),
    ttlMs: leaseMs * TTL_SHARE,
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
        // It may have been deleted.
        if (!(await storage.store.getSession(sessionId))) return;
        await postSession(board, { ...(await sessionStates.stored(sessionId)), fence });
      };
      // It is lost no more: nobody else would say that its turn is over.
      await untilDone(post, { signal: closing.signal, everyMs: RETRY_MS, onTrouble });
    } finally {
      await ownership.release(sessionId);
    }
    options.onRecovered?.(sessionId);
  };
  const everyMs = leaseMs * LOOK_SHARE;
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
