import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { findRedis } from '../../../../scripts/bootstrap/services.mjs';
import { ServerProcess, freePort, makeFolder, removeFolder } from './server-process.ts';

/** A Redis on loopback that belongs to one test. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** The folder that contains Redis's data. */
  readonly folder: string;
  /** Ends the server at once, as a crash does. The data is kept for `restart`. */
  kill(): Promise<void>;
  /** Starts the server again on the same port. With `appendOnly`, the server has its earlier data. */
  restart(): Promise<void>;
  /** Suspends the server. Until `resume`, it answers no requests, but its connections stay open. */
  pause(): void;
  resume(): void;
  /** Ends the server permanently, and deletes its data. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Whether Redis writes to disk before it acknowledges a write. */
  appendOnly?: boolean;
  /** Further settings, by the names that they have in `redis.conf`. */
  settings?: Record<string, string>;
}

/** Starts a Redis (or Valkey) on a free port. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = findRedis(process.env);
  if (program === undefined) {
    throw new Error('redis-server is not in PATH. Install Redis, or run npm test.');
  }
  const folder = await makeFolder('redis');
  const port = await freePort();
  const args = argumentsOf({
    port: String(port),
    bind: '127.0.0.1',
    save: '',
    dir: folder,
    appendonly: options.appendOnly ? 'yes' : 'no',
    appendfsync: 'always',
    ...options.settings,
  });
  const ready = 'eady to accept connections';
  const start = async () => ServerProcess.start({ program, args, ready, folder });
  let server = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    kill: async () => server.end('SIGKILL'),
    restart: async () => {
      server = await start();
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    stop: async () => {
      await server.end('SIGKILL');
      await removeFolder(folder);
    },
  };
}

function argumentsOf(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/** A part of a Redis that no other test uses. */
export interface TestRedis {
  readonly url: string;
  /** Returns a prefix for all keys. Each call returns another prefix. */
  newPrefix(): string;
  release(): Promise<void>;
}

/**
 * Returns the Redis whose address is in `LIMINAL_REDIS_URL`. Without this variable, starts a Redis. Must not be used by
 * tests that end or restart Redis.
 */
export async function testRedis(): Promise<TestRedis> {
  const mine = `test-${randomUUID()}`;
  const newPrefix = () => `${mine}-${randomUUID()}`;
  const url = process.env['LIMINAL_REDIS_URL'];
  if (url) return { url, newPrefix, release: async () => removeKeys(url, mine) };
  const server = await startRedis();
  return { url: server.url, newPrefix, release: async () => server.stop() };
}

async function removeKeys(url: string, part: string): Promise<void> {
  const redis = new Redis(url);
  try {
    for await (const keys of redis.scanStream({ match: `*${part}*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(keys as string[]);
    }
  } finally {
    redis.disconnect();
  }
}
