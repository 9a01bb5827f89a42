/**
 * Doctor's checks of the server's requirements: Node, the data folder, and the Redis and the database that servers
 * share.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { hideUrlSecrets, thrownMessage } from '@liminal/protocol';
import { openConvex } from '@liminal/storage/convex';
import { describePostgres } from '@liminal/storage/postgres';
import { describeRedis } from '@liminal/storage/redis';
import { isConvex, type SharedConfig } from '../config/shared.ts';
import type { Finding } from '../finding.ts';

/** The first Node version that runs TypeScript directly and has node:sqlite. */
const oldestNode = 24;

export function checkNode(): Finding {
  const isNew = Number(process.versions.node.split('.')[0]) >= oldestNode;
  const wish = isNew ? '' : `: Liminal needs Node ${oldestNode}; ./liminal installs it`;
  return { verdict: isNew ? 'good' : 'bad', text: `Node ${process.versions.node}${wish}` };
}

export function checkDataFolder(dataDir: string): Finding {
  try {
    accessSync(firstThatExists(dataDir), constants.W_OK | constants.X_OK);
    return { verdict: 'good', text: `Data folder ${dataDir}` };
  } catch {
    const text = `Data folder ${dataDir}: cannot be written to. Choose another one with --data.`;
    return { verdict: 'bad', text };
  }
}

function firstThatExists(folder: string): string {
  return existsSync(folder) ? folder : firstThatExists(dirname(folder));
}

export async function checkShared(shared: SharedConfig): Promise<Finding[]> {
  return [
    ...(await orWhyNot(async () => checkRedis(shared))),
    ...(await orWhyNot(async () => checkDatabase(shared))),
  ];
}

async function checkRedis({ redisUrl }: SharedConfig): Promise<Finding[]> {
  const { title, troubles } = await describeRedis(redisUrl);
  return [
    sharedBy(title),
    ...troubles.map((trouble) => ({ verdict: 'poor' as const, text: `${title}: ${trouble}` })),
  ];
}

async function checkDatabase({ databaseUrl, databaseSecret = '' }: SharedConfig) {
  if (!isConvex(databaseUrl)) return [sharedBy(await describePostgres(databaseUrl))];
  const database = await openConvex(databaseUrl, databaseSecret);
  await database.close();
  return [sharedBy('Convex deployment')];
}

function sharedBy(title: string): Finding {
  return { verdict: 'good', text: `${title}, which the servers share` };
}

async function orWhyNot(check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    const message = thrownMessage(error);
    return [{ verdict: 'bad', text: hideUrlSecrets(message) }];
  }
}
