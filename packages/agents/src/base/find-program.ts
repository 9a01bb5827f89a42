/** Whether an agent's program can be run. */
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';

type Described = Pick<AgentInfo, 'cliType' | 'name' | 'description'>;

/** Describes an agent by its command. Starts nothing. */
export async function describeCommand(
  agent: Described,
  command: string,
  searchPath: string | undefined,
): Promise<AgentInfo> {
  if ((await findProgram(command, searchPath)) !== undefined) return { ...agent, available: true };
  const reason = command.includes('/')
    ? `There is no program ${command}.`
    : `There is no program “${command}” on the search path: install it, or name it with its whole path.`;
  return { ...agent, available: false, reason };
}

/** The program's path, if it exists and may be run. */
export async function findProgram(command: string, searchPath = ''): Promise<string | undefined> {
  const candidates = command.includes('/')
    ? [command]
    : searchPath.split(delimiter).map((folder) => join(folder, command));
  for (const path of candidates) if (await isProgram(path)) return path;
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
