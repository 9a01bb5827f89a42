/** Liminal's secrets that agents could still read elsewhere. */
import { readFileSync } from 'node:fs';

const secrets = [
  'LIMINAL_TOKEN',
  'LIMINAL_REDIS_URL',
  'LIMINAL_DATABASE_URL',
  'LIMINAL_DATABASE_SECRET',
];

/**
 * A sentence about the first process, from this one up to the first of the machine, whose environment shows a secret;
 * undefined if none does. Another user's process shows nothing, not even to agents.
 * @param own - Liminal's own variables, as given to this process.
 */
export function exposedSecrets(own: Record<string, string>): string | undefined {
  const texts = secrets.filter((name) => own[name]).map((name) => `${name}=${own[name]}`);
  if (texts.length === 0 || process.platform !== 'linux') return undefined;
  for (let pid = process.pid; pid > 0; pid = parentOf(pid)) {
    const shown = new Set(read(pid, 'environ').split('\0'));
    const found = texts.find((text) => shown.has(text));
    if (found === undefined) continue;
    const name = found.slice(0, found.indexOf('='));
    const where = `Agents can read ${name} in the environment of process ${pid} (${read(pid, 'comm').trim()})`;
    return pid === process.pid
      ? `${where}: this system lets no program change what it shows.`
      : `${where}, which stays. Give it to ./liminal alone: ${name}=… ./liminal`;
  }
  return undefined;
}

function parentOf(pid: number): number {
  const stat = read(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function read(pid: number, what: 'environ' | 'comm' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}
