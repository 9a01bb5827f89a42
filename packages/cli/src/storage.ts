/** Chooses the storage: only the data folder, or the Redis and the database that several servers share. */
import { LiminalError } from '@liminal/protocol';
import { type OpenedDatabase, type OpenedStorage } from '@liminal/storage';
import { openConvex } from '@liminal/storage/convex';
import { openPostgres } from '@liminal/storage/postgres';
import { openRedis } from '@liminal/storage/redis';
import { openSqliteStorage, takeDataDir } from '@liminal/storage/sqlite';
import { errors } from './errors.ts';
import type { Config } from './config/load.ts';
import { isConvex, type SharedConfig } from './config/shared.ts';
import { readServerFile } from './data/server-file.ts';
import { linkTo } from './running-server.ts';

/**
 * Opens the configured storage. Throws a LiminalError that says what to do; the message of `DATA_DIR_IN_USE` contains
 * the other server's address.
 */
export async function openStorage(config: Config): Promise<OpenedStorage> {
  const { dataDir, shared } = config;
  refuseEventArchive(config);
  try {
    return shared ? await openWithDataDir(dataDir, shared) : await openSqliteStorage(dataDir);
  } catch (error) {
    throw await withServerAddress(dataDir, error);
  }
}

/** Throws `ConfigError` if events must be kept but the database cannot keep them. */
export function refuseEventArchive({
  shared,
  settings,
}: Pick<Config, 'shared' | 'settings'>): void {
  if (settings.keepEvents !== true || !shared || !isConvex(shared.databaseUrl)) return;
  throw errors.INVALID_CONFIG.convexEvents();
}

/** Opens storage that several servers share. Such storage is not in a data folder. */
export async function openShared(shared: SharedConfig): Promise<SharedStorage> {
  const database = await openDatabase(shared);
  try {
    const redis = await openRedis({ url: shared.redisUrl, prefix: shared.redisPrefix });
    const { log, coordination } = redis;
    return {
      ...database,
      log,
      coordination,
      close: async () => {
        await redis.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openDatabase(shared: SharedConfig): Promise<OpenedDatabase> {
  const { databaseUrl, databaseSchema, databaseSecret = '' } = shared;
  if (isConvex(databaseUrl)) return openConvex(databaseUrl, databaseSecret);
  return openPostgres(databaseUrl, { schema: databaseSchema });
}

type SharedStorage = OpenedStorage & Required<Pick<OpenedStorage, 'coordination'>>;

/**
 * With shared storage, the data folder still contains the token, and the record of this server's agents. After a crash,
 * the next server reads this record.
 */
async function openWithDataDir(dataDir: string, shared: SharedConfig): Promise<OpenedStorage> {
  const release = await takeDataDir(dataDir);
  try {
    const storage = await openShared(shared);
    return { ...storage, close: async () => storage.close().finally(release) };
  } catch (error) {
    release();
    throw error;
  }
}

async function withServerAddress(dataDir: string, error: unknown): Promise<unknown> {
  const other = readServerFile(dataDir);
  const isTaken = error instanceof LiminalError && error.code === 'DATA_DIR_IN_USE';
  if (!isTaken || !other) return error;
  const where = await linkTo(other).catch(() => other.url);
  return errors.DATA_DIR_IN_USE.runs(dataDir, other.pid, where, { cause: error });
}
