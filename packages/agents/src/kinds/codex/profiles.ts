/**
 * Reads the user's Codex profiles: files `NAME.config.toml` in the folder of Codex' configuration. A profile overrides
 * the configuration.
 */
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { thrownMessage } from '@liminal/protocol';
import { parse } from 'smol-toml';
import { errors } from '../../contract/errors.ts';
import { isRecord } from '../../base/parse-line.ts';

type Table = Record<string, unknown>;

const ending = '.config.toml';
const isName = (name: string): boolean => /^[\w-]{1,100}$/.test(name);

const folderOf = (env: NodeJS.ProcessEnv): string =>
  env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');

/** Returns the profiles' names, as for `codex --profile`. */
export async function listProfiles(env: NodeJS.ProcessEnv): Promise<string[]> {
  const files = await readdir(folderOf(env)).catch(() => []);
  return files
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .filter(isName)
    .toSorted();
}

/** Returns the settings of a profile. Throws ProviderError `INVALID_OPTION`. */
export async function readProfile(env: NodeJS.ProcessEnv, name: string): Promise<Table> {
  const names = await listProfiles(env);
  if (!names.includes(name)) {
    const { noProfiles, profile } = errors.INVALID_OPTION;
    throw names.length === 0 ? noProfiles(name) : profile(name, names);
  }
  try {
    return parse(await readFile(join(folderOf(env), `${name}${ending}`), 'utf8'));
  } catch (error) {
    throw errors.INVALID_OPTION.profileUnreadable(name, thrownMessage(error), { cause: error });
  }
}

/**
 * Merges a profile with Liminal's own settings for a thread. The names of Liminal's settings are paths with dots
 * (`table.key`). Codex applies entries in any order, so an unmerged entry for a whole table could undo an entry for a
 * part of the table.
 */
export function layered(profile: Table, own: Table): Table {
  const merged = structuredClone(profile);
  for (const [path, value] of Object.entries(own)) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    let table = merged;
    for (const part of parts) {
      const inner = table[part];
      const next = isRecord(inner) ? inner : {};
      table[part] = next;
      table = next;
    }
    table[last] = value;
  }
  return merged;
}
