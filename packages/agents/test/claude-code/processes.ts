import { readdirSync, readFileSync, realpathSync } from 'node:fs';

/** The pids of all processes whose working folder is in a folder, or whose environment contains the folder. */
export const processesOf = (folder: string): number[] =>
  otherProcesses().filter((pid) => worksIn(pid, folder) || read(pid, 'environ').includes(folder));

/** The pid of the Claude Code process that runs a session. */
export function claudePid(sessionId: string): number {
  const pid = otherProcesses().find((one) => read(one, 'cmdline').includes(sessionId));
  if (pid === undefined) throw new Error(`No process runs the session ${sessionId}.`);
  return pid;
}

/** The pids of a folder's processes that are `tail` commands. */
export const tails = (folder: string): number[] =>
  processesOf(folder).filter((pid) => read(pid, 'cmdline').startsWith('tail'));

const otherProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);

function read(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function worksIn(pid: number, folder: string): boolean {
  try {
    return realpathSync(`/proc/${pid}/cwd`).startsWith(folder);
  } catch {
    return false;
  }
}
