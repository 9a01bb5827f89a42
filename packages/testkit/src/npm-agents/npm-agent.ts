import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Real agents that only tests run. They are not dependencies, so that an installation need not download their 50 MB. */
const agents = {
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4' },
} as const;
type NpmAgent = keyof typeof agents;

const cache = fileURLToPath(new URL('../../../../node_modules/.cache/npm-agents', import.meta.url));

/**
 * The program of an agent, by its name on the search path. npm downloads the agent the first time. Neither has
 * dependencies, and what they have as optional ones must be compiled: it is left out. Throws if npm cannot bring it.
 */
export async function npmAgent(name: NpmAgent): Promise<string> {
  const agent = `${agents[name].package}@${agents[name].version}`;
  const folder = join(cache, agent.replaceAll('/', '+'));
  const program = join(folder, 'node_modules/.bin', name);
  if (!existsSync(program)) await bring(agent, folder);
  return program;
}

/** Whole or not at all: several tests may ask for an agent at once. */
async function bring(agent: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await writeFile(join(draft, 'package.json'), '{ "private": true }');
    const flags = ['--omit=optional', '--ignore-scripts', '--no-package-lock', '--loglevel=error'];
    await promisify(execFile)('npm', ['install', '--save-exact', ...flags, agent], { cwd: draft });
    // Another test may have been first.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (cause) {
    throw new Error(`npm could not install the agent ${agent}, which this test runs.`, { cause });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** What every agent from npm runs with: this Node, and nothing of the user's own. */
export const npmAgentEnvironment = (home: string): Record<string, string> => ({
  PATH: [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
  HOME: home,
  TMPDIR: home,
  NODE_COMPILE_CACHE: join(cache, 'compiled'),
});
