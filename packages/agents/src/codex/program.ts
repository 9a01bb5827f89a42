import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { findProgram } from '../acp/index.ts';

const { platform, arch } = process;
/** The package of the program itself; npm installs `codex-acp` as a script that starts it. */
const platformPackage = `@zed-industries/codex-acp-${platform}-${arch}`;
const programFile = `bin/codex-acp${platform === 'win32' ? '.exe' : ''}`;

export interface CodexProgram {
  path: string;
  /** Known if npm has installed it. */
  version?: string;
}

/** The ACP adapter of Codex: the one on the search path, or else the one installed with Liminal. */
export async function findCodex(searchPath: string | undefined): Promise<CodexProgram | undefined> {
  const onPath = await findProgram('codex-acp', searchPath);
  if (onPath === undefined) return installedFor(import.meta.url);
  const real = await realpath(onPath);
  // Without the script there is one process less.
  return (real.endsWith('.js') ? await installedFor(real) : undefined) ?? { path: onPath };
}

/** The program that npm has installed for a module. */
async function installedFor(from: string): Promise<CodexProgram | undefined> {
  const require = createRequire(from);
  try {
    const path = require.resolve(`${platformPackage}/${programFile}`);
    if ((await findProgram(path)) === undefined) return undefined;
    const manifest: unknown = require(`${platformPackage}/package.json`);
    const { version } = z.looseObject({ version: z.string() }).parse(manifest);
    return { path, version };
  } catch {
    return undefined;
  }
}
