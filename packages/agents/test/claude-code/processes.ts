import { readdirSync, readFileSync, realpathSync } from 'node:fs';

/** Pids of all processes that work in a folder or have it as an argument. */
export const processesOf = (folder: string): number[] =>
  otherProcesses().filter((pid) => worksIn(pid, folder) || read(pid, 'environ').includes(folder));

/** The Claude Code that runs a session. */
export function claudePid(sessionId: string): number {
  const pid = otherProcesses().find((one) => read(one, 'cmdline').includes(sessionId));
  if (pid === undefined) throw new Error(`No process runs the session ${sessionId}.`);
  return pid;
}

/** The commands named `tail` among the processes of a folder. */
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
