import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** A process that an agent of a Liminal server started, directly or not. */
export interface AgentProcess {
  pid: number;
  command: string;
  /** The folder in which the process works. */
  folder: string;
}

/**
 * Returns the processes that have the mark of the server with this pid, without zombies. These are all running
 * processes that the server's agents have started.
 */
export async function agentProcesses(serverPid: number): Promise<AgentProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => readMarked(pid, serverPid)));
  return found.filter((entry) => entry !== undefined);
}

/**
 * Resolves when no process of the server's agents runs (in `folder`, if `folder` is given). Rejects after `patienceMs`,
 * with the processes that still run.
 */
export async function untilNoProcess(
  serverPid: number,
  { folder, patienceMs = 20_000 }: { folder?: string; patienceMs?: number } = {},
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const left = (await agentProcesses(serverPid)).filter(
      (entry) => folder === undefined || entry.folder === folder,
    );
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`Still running: ${JSON.stringify(left)}`);
    await setTimeout(200);
  }
}

async function readMarked(pid: number, serverPid: number): Promise<AgentProcess | undefined> {
  try {
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8');
    const marks = environ.split('\0').filter((entry) => entry.startsWith('LIMINAL_MARK='));
    if (!marks.some((mark) => new RegExp(`[= ]${serverPid}\\.`).test(mark))) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    return { pid, command, folder: await readlink(`/proc/${pid}/cwd`) };
  } catch {
    // This happens if the process has ended, is a zombie, or belongs to another user.
    return undefined;
  }
}
