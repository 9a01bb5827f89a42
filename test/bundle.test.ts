import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, realpath, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startLiminalServer } from '../bench/parts/liminal-server.ts';
import { Installation } from './faults/installation.ts';

const run = promisify(execFile);

test('the program runs from the bundle of the current sources, or directly from the sources if the bundle is outdated', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-bundle-')));
  onTestFinished(async () => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const { liminal } = await Installation.make(root);
  const bin = join(root, 'packages/cli/bin');
  const bundles = join(root, 'node_modules/.cache/liminal');
  const version = async () => (await run(process.execPath, [liminal, '--version'])).stdout;
  const make = async () => {
    // The program uses a compile cache from the environment.
    const { NODE_COMPILE_CACHE: _, ...env } = process.env;
    await run(process.execPath, [join(bin, 'make-bundle.js')], { env });
    return (await readdir(bundles)).filter((name) => !name.startsWith('older'));
  };
  for (const age of [1, 2, 3, 4, 5, 6]) {
    const older = join(bundles, `older-${age}`);
    await mkdir(older, { recursive: true });
    await utimes(older, 0, new Date(Date.now() - age * 60_000));
  }
  expect(await version()).toBe('0.1.0\n');

  const [made = ''] = await make();
  await appendFile(join(bundles, made, 'program.mjs'), '\nconsole.log("From the bundle.");\n');
  expect(await version()).toBe('From the bundle.\n0.1.0\n');
  expect(await make()).toEqual([made]);
  expect(existsSync(join(bundles, made, 'cache'))).toBe(true);
  expect(await readdir(bundles)).toEqual([made, 'older-1', 'older-2', 'older-3', 'older-4']);

  await appendFile(join(root, 'packages/protocol/src/index.ts'), '\n');
  expect(await version()).toBe('0.1.0\n');
});

test('the benchmark and the soak test run the same server that users run', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-measured-'));
  onTestFinished(async () => rm(dataDir, { recursive: true }));
  const { process: server, connection } = await startLiminalServer(dataDir, process.env);
  onTestFinished(() => server.end());
  expect(await connection.get('projects')).toEqual({ projects: [] });
});
