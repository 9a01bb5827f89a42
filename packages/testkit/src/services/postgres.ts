import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findPostgres } from '../../../../scripts/bootstrap/services.mjs';
import { ServerProcess, freePort, makeFolder, removeFolder } from './server-process.ts';

/** A PostgreSQL on loopback that belongs to one test. */
export interface PostgresServer {
  /** The URL of the database `postgres`, which the test may change freely. */
  readonly url: string;
  readonly port: number;
  /** Ends the server at once, which cuts every connection. The data is kept for `restart`. */
  kill(): Promise<void>;
  /** Starts the server again on the same port. */
  restart(): Promise<void>;
  /** Ends the server permanently, and deletes its data. */
  stop(): Promise<void>;
}

/** Starts a PostgreSQL on a free port, with this limit of connections. The start takes a second or two. */
export async function startPostgres(maxConnections = 100): Promise<PostgresServer> {
  const programs = findPostgres(process.env);
  if (programs === undefined) {
    throw new Error('There is no PostgreSQL server. Install PostgreSQL, or run npm test.');
  }
  const user = process.getuid?.() === 0 ? someoneElse() : undefined;
  const folder = await makeFolder('postgres');
  if (user) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  initialize(programs.initdb, data, { ...user, cwd: folder });
  const port = await freePort();
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1'].concat(
    ['unix_socket_directories=', 'fsync=off', `max_connections=${maxConnections}`].flatMap(
      (set) => ['-c', set],
    ),
  );
  const start = async () =>
    ServerProcess.start({
      program: programs.postgres,
      args,
      ready: 'ready to accept connections',
      folder,
      ...(user && { user }),
    });
  let server = await start();
  return {
    url: `postgresql://liminal@127.0.0.1:${port}/postgres`,
    port,
    // SIGQUIT ends PostgreSQL immediately, like a crash, and also ends its child processes. After a real crash, the
    // child processes would hold the shared memory for a while.
    kill: async () => server.end('SIGQUIT'),
    restart: async () => {
      server = await start();
    },
    stop: async () => {
      await server.end('SIGQUIT');
      await removeFolder(folder);
    },
  };
}

function initialize(
  initdb: string,
  data: string,
  as: { uid?: number; gid?: number; cwd: string },
): void {
  const args = ['-D', data, '-U', 'liminal', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const made = spawnSync(initdb, [...args, '--no-sync'], { ...as, encoding: 'utf8' });
  if (made.status === 0) return;
  throw new Error(`${initdb} failed: ${made.stderr || String(made.error)}`);
}

/** Returns a user for the server, because PostgreSQL does not run as root. */
function someoneElse(): { uid: number; gid: number } {
  const user = ['postgres', 'nobody'].find(
    (name) => spawnSync('id', [name], { stdio: 'ignore' }).status === 0,
  );
  if (user === undefined) throw new Error('The system has no user postgres and no user nobody.');
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A part of a PostgreSQL that no other test uses. */
export interface TestPostgres {
  readonly url: string;
  /** Returns the name of a schema that does not exist yet. Each call returns another name. */
  newSchema(): string;
  release(): Promise<void>;
}

/**
 * Returns the database whose address is in `LIMINAL_DATABASE_URL`. Without this variable, starts a PostgreSQL. Must not
 * be used by tests that end or restart PostgreSQL.
 */
export async function testPostgres(): Promise<TestPostgres> {
  const made: string[] = [];
  const newSchema = () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    made.push(name);
    return name;
  };
  const url = process.env['LIMINAL_DATABASE_URL'];
  if (url) return { url, newSchema, release: async () => dropSchemas(url, made) };
  const server = await startPostgres();
  return { url: server.url, newSchema, release: async () => server.stop() };
}

/** Returns all rows of a schema's tables, each as `[table, row]` in JSON. */
export async function postgresRows(url: string, schema: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1',
      [schema],
    );
    const lines: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<object>(`SELECT * FROM ${schema}.${name}`);
      lines.push(...rows.map((row) => JSON.stringify([name, row])));
    }
    return lines;
  } finally {
    await client.end();
  }
}

async function dropSchemas(url: string, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const name of names) await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  } finally {
    await client.end();
  }
}
