import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canInstall, installPackages } from './apt.mjs';
import { isProgram, onPath } from './programs.mjs';

/** The folder in which Debian installs PostgreSQL, with one folder per version. */
const versions = '/usr/lib/postgresql';

const services = [
  {
    name: 'Redis',
    url: 'LIMINAL_REDIS_URL',
    package: 'redis-server',
    mac: 'brew install redis',
    find: findRedis,
  },
  {
    name: 'PostgreSQL',
    url: 'LIMINAL_DATABASE_URL',
    package: 'postgresql',
    mac: 'brew install postgresql',
    find: findPostgres,
  },
  {
    name: 'Python with redis-py',
    url: 'LIMINAL_PYTHON',
    package: 'python3-redis',
    mac: 'pip3 install redis',
    find: findPython,
  },
];

/**
 * Ensures that the tests can start a Redis and a PostgreSQL, and can read the Redis from Python. Installs missing
 * programs if nobody must consent.
 */
export async function testServices() {
  const missing = missingServices(process.env);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(' and ');
  const packages = missing.map((service) => service.package);
  if (canInstall()) {
    console.error(`Installing ${names} for the tests (apt-get) …`);
    await installPackages(packages);
    if (missingServices(process.env).length === 0) return;
  }
  const onMac = missing.map(({ mac }) => mac).join(' && ');
  const urls = missing.map(({ url }) => url).join(' and ');
  throw new Error(
    `The tests did not find ${names}, which they need. Install the missing programs (on Debian: ` +
      `"sudo apt-get install ${packages.join(' ')}"; on macOS: "${onMac}"), or name others in ` +
      `${urls}, then run npm test again.`,
  );
}

/**
 * Returns the services that are not installed and whose address is not in the environment.
 * @param {NodeJS.ProcessEnv} env
 */
export function missingServices(env) {
  return services.filter(({ url, find }) => !env[url] && find(env) === undefined);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined} The path of `redis-server`, or of Valkey's server.
 */
export function findRedis(env) {
  return onPath('redis-server', env) ?? onPath('valkey-server', env);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ postgres: string, initdb: string } | undefined} The paths of the programs of the newest installed
 * version.
 */
export function findPostgres(env) {
  const [postgres, initdb] = [onPath('postgres', env), onPath('initdb', env)];
  if (postgres !== undefined && initdb !== undefined) return { postgres, initdb };
  return newestFirst(versions)
    .map((version) => join(versions, version, 'bin'))
    .map((bin) => ({ postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') }))
    .find((programs) => isProgram(programs.postgres) && isProgram(programs.initdb));
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined} The path of a Python that has redis-py. Debian's package of redis-py works only with
 * Debian's own Python.
 */
export function findPython(env) {
  if (env.LIMINAL_PYTHON) return env.LIMINAL_PYTHON;
  const found = [onPath('python3', env), '/usr/bin/python3'];
  return found.find((python) => python !== undefined && hasRedis(python));
}

/** @param {string} python */
function hasRedis(python) {
  return spawnSync(python, ['-c', 'import redis'], { stdio: 'ignore' }).status === 0;
}

/** @param {string} folder */
function newestFirst(folder) {
  try {
    return readdirSync(folder).toSorted((a, b) => Number(b) - Number(a));
  } catch {
    return [];
  }
}
