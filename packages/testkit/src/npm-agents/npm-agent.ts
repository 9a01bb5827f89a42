import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Real agents that only tests run. They are not dependencies of Liminal, so that an installation of Liminal does not
 * download their 50 MB.
 */
const agents = {
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4' },
} as const;
type NpmAgent = keyof typeof agents;

const cache = fileURLToPath(new URL('../../../../node_modules/.cache/npm-agents', import.meta.url));

/**
 * Resolves with the path of an agent's program. The first time, npm downloads the agent. The two agents have no
 * required dependencies; their optional dependencies would have to be compiled and are left out. Throws if npm cannot
 * install the agent.
 */
export async function npmAgent(name: NpmAgent): Promise<string> {
  const agent = `${agents[name].package}@${agents[name].version}`;
  const folder = join(cache, agent.replaceAll('/', '+'));
  const program = join(folder, 'node_modules/.bin', name);
  if (!existsSync(program)) await install(agent, folder);
  return program;
}

/**
 * Installs the agent into a temporary folder and then renames this folder, because several tests may need an agent at
 * the same time.
 */
async function install(agent: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await writeFile(join(draft, 'package.json'), '{ "private": true }');
    const flags = ['--omit=optional', '--ignore-scripts', '--no-package-lock', '--loglevel=error'];
    await promisify(execFile)('npm', ['install', '--save-exact', ...flags, agent], { cwd: draft });
    // If another test has installed the agent in the meantime, the folder already exists and the rename fails.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (cause) {
    throw new Error(`npm could not install the agent ${agent}, which this test runs.`, { cause });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Returns the environment of every agent from npm: with this Node, and without the user's own environment. */
export const npmAgentEnvironment = (home: string): Record<string, string> => ({
  PATH: [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
  HOME: home,
  TMPDIR: home,
  NODE_COMPILE_CACHE: join(cache, 'compiled'),
});
