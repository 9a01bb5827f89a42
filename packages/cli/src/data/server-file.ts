/** The record by which a command finds the server that runs on the same data folder. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readProcess } from '@liminal/agents/process-table';
import { readSmall } from './read-small.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

export interface ServerFile {
  /** Without a trailing slash. */
  url: string;
  pid: number;
  token: string;
}

/** How long a server on this machine may take to answer, in ms. */
const responseTimeoutMs = 5000;

/**
 * Records this process as the server of a data folder; returns a function that removes the record. The record contains
 * the start time of the process. After a crash, another process may have the same pid, and another program may listen
 * at the same address: neither may be mistaken for the server, because this program would get the token.
 */
export function writeServerFile(
  dataDir: string,
  { url, token }: Pick<ServerFile, 'url' | 'token'>,
): () => void {
  const path = pathIn(dataDir);
  const { pid } = process;
  const startedAt = readProcess(pid)?.startedAt;
  writeFileAtomically(path, `${JSON.stringify({ url, token, pid, startedAt })}\n`);
  return () => rmSync(path, { force: true });
}

/** Returns the server that is recorded in the data folder, if it answers. */
export async function findServer(dataDir: string): Promise<ServerFile | undefined> {
  const server = readServerFile(dataDir);
  return server && (await isReachable(server.url)) ? server : undefined;
}

export function readServerFile(dataDir: string): ServerFile | undefined {
  try {
    const read = JSON.parse(readSmall(pathIn(dataDir))) as Record<string, unknown>;
    const { url, pid, token, startedAt } = read;
    const isComplete =
      typeof url === 'string' && Number.isInteger(pid) && typeof token === 'string';
    return isComplete && isAlive(Number(pid), startedAt)
      ? { url, pid: Number(pid), token }
      : undefined;
  } catch {
    return undefined;
  }
}

async function isReachable(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(responseTimeoutMs) })).ok;
  } catch {
    return false;
  }
}

/** @param startedAt - Undefined on systems without a process table. */
function isAlive(pid: number, startedAt: unknown): boolean {
  if (startedAt !== undefined) return readProcess(pid)?.startedAt === startedAt;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'server.json');
}
