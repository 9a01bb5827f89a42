import type { Coordination } from '../coordination.ts';
import type { EventLog } from '../event-log.ts';
import { Announcements, Appender, RedisEventLog, RedisFollowers, RunStreams } from './log/index.ts';
import {
  RedisBoard,
  RedisInboxes,
  RedisLeases,
  RedisTaskQueue,
  RedisUpsertStreams,
} from './coordination/index.ts';
import { Claims, RedisRunRegistry } from './registry/index.ts';
import { Keys, RedisLink } from './connection/index.ts';
import { StreamReader } from './streams/index.ts';

export interface RedisOptions {
  /**
   * `redis://` or `rediss://`, with user, password and database number if needed. For a Redis Cluster: any node, or
   * several nodes separated by commas. A node reports the addresses of the other nodes; a cluster has no database
   * numbers.
   */
  url: string;
  /** The prefix of all keys; default `codex`. */
  prefix?: string;
  /** The number of newest events of a run that the log keeps after the older events are projected; default 1000. */
  maxLength?: number;
  /** How long followers of a settled run have to get the rest of the run, ms; default a minute. */
  settledTtlMs?: number;
  /**
   * A run is assigned to another projector if its projector has been silent for this long, in ms; default half a
   * minute.
   */
  claimIdleMs?: number;
}

/** A log that several servers share, and their coordination. */
export interface OpenedRedis {
  log: EventLog;
  coordination: Coordination;
  close(): Promise<void>;
}

export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const link = await RedisLink.open(options.url);
  const keys = new Keys(options.prefix ?? 'codex');
  const reader = new StreamReader(link, keys);
  const streams = new RunStreams(link, keys);
  const announcements = new Announcements(link, keys);
  const appender = new Appender(streams, announcements, link.isCluster);
  link.onConnectionLost(() => appender.forgetAll());
  const followers = new RedisFollowers(streams, reader);
  const log = new RedisEventLog(
    { streams, announcements, appender, followers },
    options.settledTtlMs ?? 60_000,
  );
  const inboxes = new RedisInboxes(link, keys, reader);
  const tasks = new RedisTaskQueue(link, keys, reader);
  const registry = new RedisRunRegistry(
    { announcements, claims: new Claims(link, keys), streams, reader, runsKey: keys.runs },
    { claimIdleMs: options.claimIdleMs ?? 30_000, maxLength: options.maxLength ?? 1_000 },
  );
  return {
    log,
    coordination: {
      leases: new RedisLeases(link, keys),
      board: new RedisBoard(link, keys),
      inboxes,
      registry,
      tasks,
      upserts: new RedisUpsertStreams(link, keys),
    },
    close: async () => {
      await log.close();
      await registry.close();
      await tasks.close();
      await inboxes.close();
      reader.close();
      link.close();
    },
  };
}
