import { readFileSync } from 'node:fs';
import { processesOf } from '../claude-code/processes.ts';

/** The Codex processes that run in a home. */
export const codexProcesses = (home: string): number[] =>
  processesOf(home).filter((pid) => nameOf(pid) === 'codex');

/** What Codex has started in a home. */
export const commandsIn = (home: string): number[] =>
  processesOf(home).filter((pid) => nameOf(pid) !== 'codex');

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
