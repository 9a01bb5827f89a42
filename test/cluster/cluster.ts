import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type LiminalClient, type Requests } from '@liminal/client';
import {
  claudeEnvironment,
  type MessagesApi,
  type Script,
  startMessagesApi,
  testPostgres,
  type TestRedis,
  testRedis,
} from '@liminal/testkit';
import { onTestFinished } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { LiminalServer } from '../e2e/server.ts';
import { Census } from '../faults/census.ts';
import { SessionReader } from '../faults/session-reader.ts';

/** The longest time from a server's death to the end of its turns, in ms. */
const clusterLeaseMs = 6_000;

const token = 'a-token-that-all-servers-share';

/** One of the servers. */
export interface Member {
  server: LiminalServer;
  client: LiminalClient;
  /** The requests to this server. Each request rejects with `ApiError`. The error's `code` is the code that the server sent. */
  requests: Requests;
  /** Watches a session from its history on, with deltas. */
  follow(sessionId: string): Promise<SessionReader>;
}

export interface ClusterOptions {
  servers: number;
  /** The answers of the model behind Claude Code. */
  script?: Script;
  /** Additional settings for each `liminal.json`. */
  config?: Record<string, unknown>;
  /** The Redis of the servers. By default, this is the Redis that all tests share. The cluster closes this Redis. */
  redis?: TestRedis;
  /** Additional variables for each server's environment. */
  env?: Record<string, string>;
}

/**
 * Whole servers on one machine, with one Redis and one PostgreSQL. The servers share the project and the agents' own
 * stores.
 */
export class Cluster {
  readonly project: string;
  readonly api: MessagesApi;
  readonly members: Member[] = [];
  /**
   * The environment for further processes of the cluster, and a data folder that contains the cluster's configuration.
   */
  readonly env: Record<string, string>;
  readonly dataDir: string;
  /** The processes that belong to this test. */
  readonly census: Census;
  readonly #readers: SessionReader[] = [];

  private constructor(
    project: string,
    api: MessagesApi,
    census: Census,
    { env, dataDir }: Pick<Cluster, 'env' | 'dataDir'>,
  ) {
    this.project = project;
    this.env = env;
    this.dataDir = dataDir;
    this.api = api;
    this.census = census;
  }

  /** Starts all servers and services. They end with the test, and leave no process. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { servers, script = [], config = {} } = options;
    const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-cluster-')));
    const census = new Census([root]);
    onTestFinished(async () => {
      await census.endAll();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    });
    const [redis, postgres] = await Promise.all([options.redis ?? testRedis(), testPostgres()]);
    onTestFinished(async () => {
      await Promise.all([redis.release(), postgres.release()]);
    });
    const api = await startMessagesApi({ script });
    onTestFinished(() => api.close());
    const [home, project] = [join(root, 'home'), join(root, 'project')];
    await Promise.all([mkdir(home), mkdir(project)]);
    const file = {
      roots: [project],
      endLimitMs: 0,
      leaseMs: clusterLeaseMs,
      redisPrefix: redis.newPrefix(),
      databaseSchema: postgres.newSchema(),
      ...config,
    };
    const env = {
      ...claudeEnvironment(home, api.url),
      LIMINAL_REDIS_URL: redis.url,
      LIMINAL_DATABASE_URL: postgres.url,
      LIMINAL_TOKEN: token,
      ...options.env,
    };
    const dataDir = join(root, 'data');
    await writeConfiguration(dataDir, file);
    const cluster = new Cluster(project, api, census, { env, dataDir });
    const folders = Array.from({ length: servers }, (_, index) => join(root, `data-${index}`));
    const starting = folders.map((dataDir) => startServer(dataDir, file, env));
    onTestFinished(() => cluster.#end());
    for (const server of await Promise.all(starting)) cluster.#join(server);
    return cluster;
  }

  /** Begins a session of Claude Code on a server. Returns the session's id. */
  async create({ requests }: Member): Promise<string> {
    const request = { cliType: 'claude-code', projectDir: this.project };
    return (await requests.createSession(request)).sessionId;
  }

  #join(server: LiminalServer): void {
    const client = createClient({ baseUrl: server.origin, token });
    onTestFinished(() => client.close());
    this.members.push({
      server,
      client,
      requests: client.requests,
      follow: async (sessionId) => {
        const reader = await SessionReader.open(new Connection(server.origin, token), sessionId);
        this.#readers.push(reader);
        return reader;
      },
    });
  }

  async #end(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await Promise.all(this.members.map(({ server }) => server.stop()));
    await this.census.untilEmpty();
  }
}

async function startServer(
  dataDir: string,
  file: object,
  env: Record<string, string>,
): Promise<LiminalServer> {
  await writeConfiguration(dataDir, file);
  return LiminalServer.start({ dataDir, env });
}

async function writeConfiguration(dataDir: string, file: object): Promise<void> {
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'liminal.json'), JSON.stringify(file));
}
