import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { isTerminal } from '@liminal/protocol';
import type {
  Board,
  EventLog,
  Inboxes,
  Leases,
  ResponseStore,
  UpsertMessage,
} from '@liminal/storage';
import { StorageError } from '@liminal/storage';
import { MemoryUpsertStreams, openSharedMemoryStorage } from '@liminal/storage/memory';
import { onTestFinished } from 'vitest';
import type { Runtime, RuntimeSettings } from '../../src/index.ts';
import { createRuntime } from '../../src/index.ts';
import { ScriptedAgent } from '../scripted-agent.ts';
import { severable } from './severable.ts';

export interface Server {
  runtime: Runtime;
  agent: ScriptedAgent;
  warnings: string[];
  /** Kills the server: nothing that it does reaches the others from now on. */
  kill(): void;
  /** Stops lease renewals until the result is called; with `records`, also reads of records. */
  isolate(from?: { records: boolean }): () => void;
  /** How many renewals were tried. */
  readonly renewals: number;
  /** The time at which the server's agents end unless it is changed; undefined for never. */
  readonly agentsEndAt: number | undefined;
  /** Makes the server's next append fail: the log has lost earlier events. */
  loseLog(): void;
  /** The log accepts the end of the server's next turn, and loses it. */
  loseEnd(): void;
  /** Makes appends fail until the result is called. */
  cutLog(): () => void;
  /** Makes posting and reading postings fail until the result is called. */
  cutBoard(): () => void;
  /** How many postings were tried. */
  readonly postings: number;
  /**
   * Drops postings to this server until the returned function is called; the server is then notified that it may have
   * missed some.
   */
  missPostings(): () => void;
  /** Holds reads of a session’s record until the result is called. */
  holdRecords(): () => void;
}

export interface Servers {
  projectDir: string;
  /** The shared history. */
  store: ResponseStore;
  /** The shared leases. */
  leases: Leases;
  /** The servers' messages to each other. */
  inboxes: Inboxes;
  /** The last posted state of a session. */
  posted(sessionId: string): Promise<string | undefined>;
  /** The published upserts of a turn, for subscribers in any language. */
  published(turnId: string): UpsertMessage[];
  /** Makes publishing fail, from now on, for messages that the predicate selects. */
  refuseUpserts(refuses: (message: UpsertMessage) => boolean): void;
  start(settings?: Partial<RuntimeSettings>): Promise<Server>;
}

/**
 * In these tests, a session whose server has died has no owner after this time, in ms. A busy machine renews leases
 * late, and a server that is too late loses its sessions.
 */
export const clusterLeaseMs = 1_500;

/** For tests in which no server dies: no server loses a session, however busy the machine is. */
export const longLease: Partial<RuntimeSettings> = { leaseMs: 60_000 };

/** Starts servers on one log and one store; the servers and the project folder are closed after the test. */
export async function startServers(agents: () => AgentDriver[] = () => []): Promise<Servers> {
  const storage = openSharedMemoryStorage();
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'liminal-cluster-')));
  const running: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(running.map((end) => end()));
    await storage.close();
    await rm(projectDir, { recursive: true });
  });
  return {
    projectDir,
    store: storage.store,
    leases: storage.coordination.leases,
    inboxes: storage.coordination.inboxes,
    posted: async (sessionId) => {
      const name = `session:${sessionId}`;
      return (await storage.coordination.board.read([name])).get(name);
    },
    published: (turnId) => {
      const { upserts } = storage.coordination;
      return upserts instanceof MemoryUpsertStreams ? (upserts.published.get(turnId) ?? []) : [];
    },
    refuseUpserts: (refuses) => {
      const { upserts } = storage.coordination;
      const publish = upserts.publish.bind(upserts);
      upserts.publish = async (message) => {
        if (refuses(message)) throw new Error('The message is rejected.');
        await publish(message);
      };
    },
    start: async (settings = {}) => {
      const agent = new ScriptedAgent();
      const drivers = new DriverRegistry();
      drivers.register(agent);
      for (const provider of agents()) drivers.register(provider);
      const warnings: string[] = [];
      const note = (details: object, message: string): void => {
        warnings.push(`${message}: ${JSON.stringify(details)}`);
      };
      const isolation: Isolation = {
        isolated: false,
        recordsAreCut: false,
        renewals: 0,
        losesLog: false,
        losesEnd: false,
        logIsCut: false,
        boardIsCut: false,
        postings: 0,
        missesPostings: false,
        gaps: [],
      };
      const { subject, sever } = severable(isolable(storage, isolation));
      let agentsEndAt: number | undefined;
      const runtime = await createRuntime({
        endAgentsAt: (atMs) => void (agentsEndAt = atMs),
        storage: subject,
        drivers,
        roots: [projectDir],
        settings: { cadenceMs: 0, heartbeatMs: 0, leaseMs: clusterLeaseMs, ...settings },
        logger: { info: () => {}, warn: note, error: note },
      });
      let alive = true;
      running.push(async () => {
        if (alive) await runtime.close();
      });
      const kill = (): void => {
        alive = false;
        sever();
      };
      const isolate: Server['isolate'] = ({ records } = { records: false }) => {
        isolation.isolated = true;
        isolation.recordsAreCut = records;
        return () => {
          isolation.isolated = false;
          isolation.recordsAreCut = false;
        };
      };
      const loseEnd = (): void => void (isolation.losesEnd = true);
      const loseLog = (): void => void (isolation.losesLog = true);
      const cutLog = (): (() => void) => {
        isolation.logIsCut = true;
        return () => void (isolation.logIsCut = false);
      };
      const cutBoard = (): (() => void) => {
        isolation.boardIsCut = true;
        return () => void (isolation.boardIsCut = false);
      };
      const missPostings = (): (() => void) => {
        isolation.missesPostings = true;
        return () => {
          isolation.missesPostings = false;
          for (const onGap of isolation.gaps) onGap();
        };
      };
      const holdRecords = (): (() => void) => {
        const held = Promise.withResolvers<void>();
        isolation.records = held.promise;
        return held.resolve;
      };
      return {
        runtime,
        agent,
        warnings,
        kill,
        isolate,
        get postings() {
          return isolation.postings;
        },
        get renewals() {
          return isolation.renewals;
        },
        get agentsEndAt() {
          return agentsEndAt;
        },
        loseLog,
        loseEnd,
        cutLog,
        cutBoard,
        missPostings,
        holdRecords,
      };
    },
  };
}

interface Isolation {
  isolated: boolean;
  recordsAreCut: boolean;
  renewals: number;
  losesLog: boolean;
  losesEnd: boolean;
  logIsCut: boolean;
  boardIsCut: boolean;
  postings: number;
  missesPostings: boolean;
  gaps: (() => void)[];
  /** Reads of records wait for this promise. */
  records?: Promise<void>;
}

function isolable(
  storage: ReturnType<typeof openSharedMemoryStorage>,
  isolation: Isolation,
): ReturnType<typeof openSharedMemoryStorage> {
  const { leases, board } = storage.coordination;
  const renew: Leases['renew'] = async (...args) => {
    if (isolation.isolated) {
      isolation.renewals += 1;
      throw new Error('The leases cannot be reached.');
    }
    return leases.renew(...args);
  };
  const reached: Leases = {
    acquire: async (...args) => leases.acquire(...args),
    renew,
    release: async (lease) => leases.release(lease),
    holders: async (names) => leases.holders(names),
  };
  const append: EventLog['append'] = async (runId, events) => {
    if (isolation.logIsCut) throw new StorageError('LOG_WRITE_FAILED', 'The log is away.');
    if (isolation.losesEnd && events.some(isTerminal)) {
      isolation.losesEnd = false;
      return storage.log.append(runId, events.slice(0, -1));
    }
    if (!isolation.losesLog) return storage.log.append(runId, events);
    isolation.losesLog = false;
    throw new StorageError('SEQ_CONFLICT', 'The log expects an earlier event.');
  };
  const getSession: ResponseStore['getSession'] = async (sessionId) => {
    await isolation.records;
    if (isolation.recordsAreCut) throw new StorageError('STORE_READ_FAILED', 'The store is away.');
    return storage.store.getSession(sessionId);
  };
  const watch: Board['watch'] = async (prefix, { onPost, onGap }) => {
    isolation.gaps.push(onGap);
    return board.watch(prefix, {
      onPost: (...posting) => {
        if (!isolation.missesPostings) onPost(...posting);
      },
      onGap,
    });
  };
  const reachedBoard = (): Board => {
    isolation.postings += 1;
    if (isolation.boardIsCut) throw new StorageError('REDIS_UNAVAILABLE', 'The board is away.');
    return board;
  };
  const posted: Board = {
    post: async (...posting) => reachedBoard().post(...posting),
    read: async (names) => reachedBoard().read(names),
    watch,
  };
  const log = severable(storage.log).subject;
  const store = severable(storage.store).subject;
  return {
    ...storage,
    log: new Proxy(log, {
      get: (_, name) => (name === 'append' ? append : Reflect.get(log, name)),
    }),
    store: new Proxy(store, {
      get: (_, name) => (name === 'getSession' ? getSession : Reflect.get(store, name)),
    }),
    coordination: { ...storage.coordination, leases: reached, board: posted },
  };
}
