import { Normaliser } from '../recording/normaliser.ts';
import type { Workspace } from '../workspace.ts';

/** The keys whose values are ids of tasks or agents in Claude Code. These ids follow no pattern. */
const taskIdKeys = new Set([
  'task_id',
  'agent_id',
  'agentId',
  'run_id',
  'runId',
  'backgroundTaskId',
]);

/** Returns a normalised copy of Claude Code's messages. Folders become `/home/user` and `/project`. */
export function normaliseClaude<T>(entries: T, workspace: Workspace, apiUrl: string): T {
  const { home, projectDir } = workspace;
  const taskIds = new Set<string>();
  collectTaskIds(entries, taskIds);
  return new Normaliser({
    names: [
      [home, '/home/user'],
      [projectDir, '/project'],
      [home.replaceAll(/[^a-zA-Z0-9]/g, '-'), '-home-user'],
      [projectDir.replaceAll(/[^a-zA-Z0-9]/g, '-'), '-project'],
      [new URL(apiUrl).host, '127.0.0.1:1'],
      ...[...taskIds].map((id, index): [string, string] => [id, `task${index + 1}`]),
    ],
    patterns: [
      // Claude Code makes the name of a plan's file from random words.
      [/\/plans\/[\w-]+\.md/g, '/plans/plan.md'],
      [/duration_ms: \d+/g, 'duration_ms: 0'],
      [/\/cc-socks\/\d+\.sock/g, '/cc-socks/1.sock'],
    ],
    measured: /(_ms|Ms|_seconds|_time|_at|pid)$/,
  }).apply(entries);
}

function collectTaskIds(value: unknown, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (taskIdKeys.has(key) && typeof inner === 'string') found.add(inner);
    collectTaskIds(inner, found);
  }
}
