import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { findRedis } from '../../../../scripts/bootstrap/services.mjs';
import { ServerProcess, freePort, makeFolder, removeFolder } from './server-process.ts';

/** A Redis of a test's own, on the loopback. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Where it writes what it keeps. */
  readonly folder: string;
  /** Ends it at once, as a crash does. What it keeps stays for `restart`. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what `appendOnly` kept. */
  restart(): Promise<void>;
  /** Answers nobody until it is resumed, while its connections stay open. */
  pause(): void;
  resume(): void;
  /** Ends it for good and removes what it kept. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Keeps each write on disk before it is acknowledged. */
  appendOnly?: boolean;
  /** Further settings, as `redis.conf` names them. */
  settings?: Record<string, string>;
}

/** Starts a Redis (or Valkey) on a free port. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = findRedis(process.env);
  if (program === undefined) {
    throw new Error('There is no redis-server on the search path. Install Redis, or run npm test.');
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

/** A place in a Redis that nobody else uses. */
export interface TestRedis {
  readonly url: string;
  /** What the names of all keys must begin with: another one at each call. */
  newPrefix(): string;
  release(): Promise<void>;
}

/** The Redis that `LIMINAL_REDIS_URL` names, else one of our own; for tests that never end it. */
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
