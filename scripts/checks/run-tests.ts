import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPostgres, startRedis } from '@liminal/testkit';
import { needsOf } from '../bootstrap/needs.mjs';
import { root } from '../bootstrap/root.mjs';
import { readResults, tallyResults } from './test-results.ts';
import type { Tally } from './tally.ts';

/** The time after which the run is ended as hanging, in ms. */
const patience = 60 * 60_000;

/** The most connections of all test files together: several test files run at the same time. */
const maxConnections = 400;

/** A compile cache that all processes of the tests share, so that the sources are compiled only once. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/tests', import.meta.url));

/**
 * Runs all tests, shows their progress, and writes their results to a JSON file.
 * @param resultsFile - The file for the results.
 * @param only - Files or folders; empty for all.
 */
export async function runTests(resultsFile: string, only: readonly string[]): Promise<Tally> {
  const needsServices = needsOf(root, only).has('services');
  const { env, stop } = needsServices ? await shareServices() : noServices;
  try {
    return await run({ ...env, NODE_COMPILE_CACHE: compileCache }, resultsFile, only);
  } finally {
    await stop();
  }
}

const noServices = { env: process.env, stop: async () => {} };

/**
 * Starts one Redis and one PostgreSQL for all tests that do not stop or restart them, unless the environment contains
 * the addresses of running servers.
 */
async function shareServices() {
  const { LIMINAL_REDIS_URL: redisUrl, LIMINAL_DATABASE_URL: databaseUrl } = process.env;
  const redis = redisUrl ? undefined : await startRedis();
  const postgres = databaseUrl ? undefined : await startPostgres(maxConnections);
  return {
    env: {
      ...process.env,
      ...(redis && { LIMINAL_REDIS_URL: redis.url }),
      ...(postgres && { LIMINAL_DATABASE_URL: postgres.url }),
    },
    stop: async () => {
      await Promise.all([redis?.stop(), postgres?.stop()]);
    },
  };
}

async function run(
  env: NodeJS.ProcessEnv,
  resultsFile: string,
  only: readonly string[],
): Promise<Tally> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`];
  const child = spawn('vitest', ['run', ...reporters, ...only], {
    stdio: 'inherit',
    env,
    timeout: patience,
  });
  const ended = await Promise.race([once(child, 'exit'), once(child, 'error')]);
  return tallyResults(readResults(resultsFile), ended[0] === 0);
}
