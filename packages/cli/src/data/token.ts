import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '../errors.ts';
import { Token } from '../config/values.ts';
import { readSmall } from './read-small.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/**
 * Returns the data folder's token. The token is made at the first start, and only the folder's owner can read it.
 * Throws `ConfigError`.
 */
export function dataFolderToken(dataDir: string): string {
  const path = join(dataDir, 'token');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(path))
    writeFileAtomically(path, `${randomBytes(32).toString('base64url')}\n`, putNew);
  chmodSync(path, 0o600);
  const token = Token.safeParse(readSmall(path).trim());
  if (token.success) return token.data;
  throw errors.INVALID_CONFIG.token(path);
}

/** If two servers start at the same time, the second one uses the token of the first. */
function putNew(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    // This runs if the file system has no hard links.
    renameSync(draft, path);
  }
}
