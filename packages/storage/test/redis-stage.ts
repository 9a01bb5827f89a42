import { setTimeout as delay } from 'node:timers/promises';
import type { StreamEvent } from '@liminal/protocol';
import { startRedis, type RedisServer } from '@liminal/testkit';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { EventLog } from '../src/index.ts';
import type { OpenedRedis, RedisOptions } from '../src/redis/index.ts';
import { openRedis } from '../src/redis/index.ts';

/** A Redis for one test, and servers that use it; all are closed after the test. */
export async function ownRedis(options: Parameters<typeof startRedis>[0] = {}) {
  const redis: RedisServer = await startRedis(options);
  onTestFinished(async () => redis.stop());
  const open = async (more: Partial<RedisOptions> = {}): Promise<OpenedRedis> => {
    const opened = await openRedis({ url: redis.url, ...more });
    onTestFinished(async () => opened.close());
    return opened;
  };
  return { redis, open };
}

/** Sends a command to the Redis on a separate connection. */
export async function ask(redis: RedisServer, command: string, ...args: string[]) {
  const connection = new Redis(redis.url);
  try {
    return await connection.call(command, ...args);
  } finally {
    connection.disconnect();
  }
}

/**
 * Records every command that the Redis gets from now on, its name first. Call it before any client connects, because
 * ioredis fails if a command arrives in the same packet as the answer to MONITOR.
 */
export async function commandsOf(redis: RedisServer): Promise<string[][]> {
  const monitor = await new Redis(redis.url, { lazyConnect: true }).monitor();
  onTestFinished(() => monitor.disconnect());
  const commands: string[][] = [];
  monitor.on('monitor', (_time: string, command: string[]) => commands.push(command));
  return commands;
}

/** Appends as a run's writer does: refused events are retried, followed by later ones. */
export async function write(
  log: EventLog,
  runId: string,
  batches: readonly StreamEvent[][],
): Promise<number> {
  let outbox: StreamEvent[] = [];
  let refusals = 0;
  const waiting = [...batches];
  while (outbox.length > 0 || waiting.length > 0) {
    outbox = [...outbox, ...(waiting.shift() ?? [])];
    try {
      await log.append(runId, outbox);
      outbox = [];
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'LOG_WRITE_FAILED') throw error;
      refusals += 1;
      await delay(20);
    }
  }
  return refusals;
}

export function inBatches(events: StreamEvent[], size: number): StreamEvent[][] {
  return Array.from({ length: Math.ceil(events.length / size) }, (_, index) =>
    events.slice(index * size, (index + 1) * size),
  );
}
