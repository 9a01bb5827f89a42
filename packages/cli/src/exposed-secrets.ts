/** Finds secrets of Liminal that agents could still read in the environments of processes. */
import { readFileSync } from 'node:fs';

const secrets = [
  'LIMINAL_TOKEN',
  'LIMINAL_REDIS_URL',
  'LIMINAL_DATABASE_URL',
  'LIMINAL_DATABASE_SECRET',
];

/**
 * A sentence about the first process whose environment shows a secret, from this process up through its parents;
 * undefined if no environment shows a secret. Skips processes of other users, because agents cannot read the
 * environment of such a process either.
 * @param own - Liminal's own variables, as given to this process.
 */
export function exposedSecrets(own: Record<string, string>): string | undefined {
  const texts = secrets.filter((name) => own[name]).map((name) => `${name}=${own[name]}`);
  if (texts.length === 0 || process.platform !== 'linux') return undefined;
  for (let pid = process.pid; pid > 0; pid = parentOf(pid)) {
    const shown = new Set(readProcFile(pid, 'environ').split('\0'));
    const found = texts.find((text) => shown.has(text));
    if (found === undefined) continue;
    const name = found.slice(0, found.indexOf('='));
    const where = `Agents can read ${name} in the environment of process ${pid} (${readProcFile(pid, 'comm').trim()})`;
    return pid === process.pid
      ? `${where}: this system lets no program hide its environment.`
      : `${where}, which keeps running. Set it only for ./liminal: ${name}=… ./liminal`;
  }
  return undefined;
}

function parentOf(pid: number): number {
  const stat = readProcFile(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function readProcFile(pid: number, what: 'environ' | 'comm' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}
