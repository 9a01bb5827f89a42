import { readdir, readFile } from 'node:fs/promises';
import { agentOf, marksIn } from './mark.ts';
import { hasProcessTable } from './table.ts';

/** The processes of one agent type and their memory. */
export interface AgentProcesses {
  cliType: string;
  processes: number;
  /** The sum of the processes' resident memory. Shared memory counts once for each process. */
  residentBytes: number;
}

/**
 * The time for which a count is cached, in ms, because reading the process table of a large machine takes some time.
 */
const cacheMs = 5_000;
/** The most processes that are read, the newest first. */
const maxProcesses = 5_000;
/** The number of processes that are read at the same time; small, so that other work can continue. */
const concurrency = 16;

let latest: { at: number; counted: Promise<AgentProcesses[]> } | undefined;

/** Counts this server's agents. The count may be up to `cacheMs` old; undefined without Linux's `/proc`. */
export async function agentProcesses(): Promise<AgentProcesses[] | undefined> {
  if (!hasProcessTable) return undefined;
  const now = performance.now();
  if (!latest || now - latest.at > cacheMs) latest = { at: now, counted: countAgents() };
  return latest.counted;
}

/**
 * Counts the processes of this server's agents, and all processes that the agents have started, by the processes'
 * marks.
 */
export async function countAgents(): Promise<AgentProcesses[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const left = pids.slice(-maxProcesses);
  const byAgent = new Map<string, AgentProcesses>();
  const readAll = async (): Promise<void> => {
    for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
      const cliType = marksIn(await readIfThere(pid, 'environ'))
        .map(agentOf)
        .findLast(Boolean);
      if (cliType === undefined) continue;
      const used = await residentBytesOf(pid);
      // A process without memory has already ended.
      if (used === 0) continue;
      const { processes, residentBytes } = byAgent.get(cliType) ?? nothing;
      byAgent.set(cliType, {
        cliType,
        processes: processes + 1,
        residentBytes: residentBytes + used,
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, readAll));
  return [...byAgent.values()];
}

const nothing = { processes: 0, residentBytes: 0 };

async function residentBytesOf(pid: string): Promise<number> {
  const [, kibibytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(await readIfThere(pid, 'status')) ?? [];
  return Number(kibibytes) * 1_024;
}

async function readIfThere(pid: string, what: 'environ' | 'status'): Promise<string> {
  return readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => '');
}
