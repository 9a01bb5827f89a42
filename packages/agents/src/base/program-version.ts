/** Finds the versions of programs that a person has installed. */
import { BoundedMap } from '@liminal/protocol';
import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

/** How long a program may take to print its version, ms. */
const versionLimitMs = 10_000;

/** Printed versions, by `programKey`. */
const versions = new BoundedMap<string, Promise<string | undefined>>(10);

/** Returns a key that changes when the program's file is replaced or changed. */
export async function programKey(path: string): Promise<string> {
  const real = await realpath(path);
  const { mtimeMs } = await stat(real);
  return `${real} ${mtimeMs}`;
}

/**
 * Returns the version that the program prints with `--version`, cached; undefined if the program fails or prints no
 * version.
 */
export async function versionOf(path: string): Promise<string | undefined> {
  const key = await programKey(path);
  const asked = versions.get(key) ?? askVersion(path);
  versions.set(key, asked);
  const version = await asked;
  // Do not cache this result: the machine may only have been too busy.
  if (version === undefined) versions.delete(key);
  return version;
}

async function askVersion(path: string): Promise<string | undefined> {
  const asked = promisify(execFile)(path, ['--version'], { timeout: versionLimitMs });
  const result = await asked.catch(() => undefined);
  return /(?<!\d)\d+\.\d+\.\d+\S*/.exec(result?.stdout ?? '')?.[0];
}

const numbersIn = (version: string): number[] => version.split(/[.+-]/).map(Number);

/** Returns whether `version` is `oldest` or newer. A pre-release counts as the release that it precedes. */
export function isAtLeast(version: string, oldest: string): boolean {
  const parts = numbersIn(version);
  for (const [at, least] of numbersIn(oldest).entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
