import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { processSupport } from '@liminal/agents';
import { hideUrlSecrets, messageOf } from '@liminal/protocol';
import { openConvex } from '@liminal/storage/convex';
import { describePostgres } from '@liminal/storage/postgres';
import { describeRedis } from '@liminal/storage/redis';
import type { Config } from '../config/load.ts';
import { isConvex, type SharedConfig } from '../config/shared.ts';
import { findServer } from '../data/server-file.ts';
import { isFree } from '../port.ts';
import { version } from '../version.ts';
import { checkAgents } from './doctor-agents.ts';

export interface Finding {
  /** `bad`: Liminal cannot run. `poor`: it can, but something is missing. */
  verdict: 'good' | 'poor' | 'bad';
  text: string;
}

const marks = { good: 'ok  ', poor: 'note', bad: 'FAIL' };
/** The first Node that runs TypeScript directly and has node:sqlite. */
const oldestNode = 24;

/** Reports what works here and what does not, and why. Returns 1 if the server could not start. */
export async function doctor(config: Config): Promise<number> {
  let isBad = false;
  const tell = ({ verdict, text }: Finding): void => {
    isBad ||= verdict === 'bad';
    console.log(`${marks[verdict]}  ${text}`);
  };
  tell({ verdict: 'good', text: `Liminal ${version}` });
  tell(checkNode());
  tell(checkDataFolder(config.dataDir));
  tell(await checkServer(config));
  tell(checkProcesses());
  if (config.shared) for (const finding of await checkShared(config.shared)) tell(finding);
  await checkAgents(config, tell);
  return isBad ? 1 : 0;
}

function checkNode(): Finding {
  const isNew = Number(process.versions.node.split('.')[0]) >= oldestNode;
  const wish = isNew ? '' : `: Liminal needs ${oldestNode}, which ./liminal brings`;
  return { verdict: isNew ? 'good' : 'bad', text: `Node ${process.versions.node}${wish}` };
}

function checkDataFolder(dataDir: string): Finding {
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

async function checkServer({ dataDir, host, port, portChosen }: Config): Promise<Finding> {
  const server = await findServer(dataDir);
  if (server)
    return { verdict: 'good', text: `A server runs at ${server.url} (process ${server.pid})` };
  if (await isFree(host, port)) return { verdict: 'good', text: `Port ${port} on ${host} is free` };
  return portChosen
    ? { verdict: 'bad', text: `Port ${port} on ${host} is in use. Choose another with --port.` }
    : { verdict: 'poor', text: `Port ${port} on ${host} is in use: the next free one is taken` };
}

function checkProcesses(): Finding {
  const { complete, sentence } = processSupport();
  return { verdict: complete ? 'good' : 'poor', text: sentence };
}

async function checkShared(shared: SharedConfig): Promise<Finding[]> {
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
    const said = messageOf(error);
    return [{ verdict: 'bad', text: hideUrlSecrets(said) }];
  }
}
