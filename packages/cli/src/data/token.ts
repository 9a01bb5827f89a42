import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/errors.ts';
import { Token } from '../config/values.ts';

/** The data folder's token, made at the first start; only its owner can read it. Throws `ConfigError`. */
export function dataFolderToken(dataDir: string): string {
  const path = join(dataDir, 'token');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      // On a full disk the file may exist without its content: the next start must not take that for a token.
      rmSync(path, { force: true });
      throw error;
    }
  }
  chmodSync(path, 0o600);
  const token = Token.safeParse(readFileSync(path, 'utf8').trim());
  if (token.success) return token.data;
  throw new ConfigError(`${path} holds no usable token. Remove it, and a new one is made.`);
}
