import { readFileSync } from 'node:fs';
import { processesOf } from '../claude-code/processes.ts';

/** Returns the Codex processes of a home. */
export const codexProcesses = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'comm') === 'codex');

/** Returns the processes that Codex has started in a home. */
export const commandsIn = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'comm') !== 'codex');

/** Returns the tests' MCP servers in a home, without the short-lived shells that Codex runs when a session begins. */
export const mcpServersIn = (home: string): number[] =>
  processesOf(home).filter((pid) => readOf(pid, 'cmdline').includes('mcp-server/main'));

function readOf(pid: number, file: 'comm' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').trim();
  } catch {
    return '';
  }
}
