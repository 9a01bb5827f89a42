/** Finds agents' programs. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { withoutRelative } from './search-path.ts';

type Described = Pick<AgentInfo, 'cliType' | 'name' | 'description'>;

/** Reports whether the agent's command exists, or why the command cannot run. Starts nothing. */
export function describeCommand(
  agent: Described,
  command: string,
  searchPath: string | undefined,
): AgentInfo {
  if (findProgram(command, searchPath) !== undefined) return { ...agent, available: true };
  const reason = command.includes('/')
    ? `There is no program ${command}.`
    : `There is no program “${command}” on the search path: install it, or give its absolute path.`;
  return { ...agent, available: false, reason };
}

/** Returns a text as one word for a POSIX shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns the path of an executable program; undefined if there is none. A name is searched in the search path's
 * absolute folders.
 */
export function findProgram(command: string, searchPath = ''): string | undefined {
  if (command.includes('/')) return isProgram(command) ? command : undefined;
  const folders = withoutRelative(searchPath).split(delimiter);
  return folders.map((folder) => join(folder, command)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
