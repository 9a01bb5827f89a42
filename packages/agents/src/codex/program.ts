/** The program `codex`: the user's own, or the one installed with Liminal. */
import { execFile } from 'node:child_process';
import { readdir, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findProgram } from '../base/find-program.ts';
import { Newest } from '../base/newest.ts';

const { platform, arch } = process;
const programFile = platform === 'win32' ? 'codex.exe' : 'codex';
/** The oldest version whose `app-server` says what is read here. */
export const oldestCodex = '0.169.0';
/** How long a program may take to say its version, ms. */
const versionLimitMs = 5_000;

export interface CodexProgram {
  path: string;
  version: string;
}

/** The user's own program on the search path if it is new enough, or else the installed one. */
export async function findCodex(searchPath: string | undefined): Promise<CodexProgram | undefined> {
  const own = findProgram('codex', searchPath);
  const found = own === undefined ? undefined : await describedProgram(own);
  return found !== undefined && isNewEnough(found.version) ? found : installedFor(import.meta.url);
}

async function describedProgram(path: string): Promise<CodexProgram | undefined> {
  const real = await realpath(path);
  // npm installs a script that starts the program.
  if (real.endsWith('.js')) return installedFor(real);
  const { mtimeMs } = await stat(real);
  const key = `${real} ${mtimeMs}`;
  const asked = versions.get(key) ?? askVersion(real);
  versions.set(key, asked);
  const version = await asked;
  return version === undefined ? undefined : { path: real, version };
}

/** What programs have said, by their path and time. */
const versions = new Newest<string, Promise<string | undefined>>(10);

async function askVersion(path: string): Promise<string | undefined> {
  const asked = promisify(execFile)(path, ['--version'], { timeout: versionLimitMs });
  const said = await asked.catch(() => undefined);
  return /(?<!\d)\d+\.\d+\.\d+\S*/.exec(said?.stdout ?? '')?.[0];
}

/** The program that npm has installed for a module. */
async function installedFor(from: string): Promise<CodexProgram | undefined> {
  try {
    const script = createRequire(from).resolve('@openai/codex/package.json');
    const require = createRequire(script);
    const manifest = require.resolve(`@openai/codex-${platform}-${arch}/package.json`);
    const vendor = join(dirname(manifest), 'vendor');
    const [target = ''] = await readdir(vendor);
    const path = findProgram(join(vendor, target, 'bin', programFile));
    if (path === undefined) return undefined;
    const { version } = z.looseObject({ version: z.string() }).parse(require(script));
    return { path, version };
  } catch {
    return undefined;
  }
}

const numbersIn = (version: string): number[] => version.split(/[.+-]/).map(Number);

/** Whether a version is as new as the oldest that fits. */
export function isNewEnough(version: string): boolean {
  const parts = numbersIn(version);
  for (const [at, least] of numbersIn(oldestCodex).entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
