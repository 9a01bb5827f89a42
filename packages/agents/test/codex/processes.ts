import { readFileSync } from 'node:fs';
import { processesOf } from '../claude-code/processes.ts';

/** The Codex processes that run in a home. */
export const codexProcesses = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'comm') === 'codex');

/** What Codex has started in a home. */
export const commandsIn = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'comm') !== 'codex');

/** The tests' MCP servers in a home; beside them Codex runs shells for a moment as a session begins. */
export const mcpServersIn = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'cmdline').includes('mcp-server/main'));

function readOf(pid: number, file: 'comm' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').trim();
  } catch {
    return '';
  }
}
