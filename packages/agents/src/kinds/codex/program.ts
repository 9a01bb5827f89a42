/** The program `codex`: the user's own, or the one installed with Liminal. */
import { readdir, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { findProgram } from '../../base/find-program.ts';
import { isAtLeast, versionOf } from '../../base/program-version.ts';

const { platform, arch } = process;
const programFile = platform === 'win32' ? 'codex.exe' : 'codex';
/** The oldest version whose `app-server` sends everything that Liminal reads. */
export const oldestCodex = '0.169.0';

export interface CodexProgram {
  path: string;
  version: string;
}

/**
 * Returns the user's own program on the search path if it is new enough, or else the program that is installed with
 * Liminal.
 */
export async function findCodex(searchPath: string | undefined): Promise<CodexProgram | undefined> {
  const own = findProgram('codex', searchPath);
  const found = own === undefined ? undefined : await describedProgram(own);
  return found !== undefined && isAtLeast(found.version, oldestCodex)
    ? found
    : installedFor(import.meta.url);
}

async function describedProgram(path: string): Promise<CodexProgram | undefined> {
  const real = await realpath(path);
  // npm installs a script that starts the program, so search for the program itself.
  if (real.endsWith('.js')) return installedFor(real);
  const version = await versionOf(real);
  return version === undefined ? undefined : { path: real, version };
}

/** Returns the program that npm has installed for a module. */
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
