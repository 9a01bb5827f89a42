import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { Project, SessionSummary } from '@liminal/protocol';
import type { SessionRecord } from '@liminal/storage';
import type { FoundSession } from './listed-sessions.ts';
import { sessionName } from '../session/index.ts';

export function summarizeFound(found: FoundSession): SessionSummary {
  const { sessionId, cliType, projectDir, createdAt, updatedAt } = found;
  return {
    sessionId,
    cliType,
    projectId: projectDir,
    projectDir,
    title: sessionName(found),
    createdAt,
    updatedAt,
    state: 'idle',
    isAlive: false,
    active: false,
    source: 'agent',
  };
}

/** Returns sessions by project; the most recently used project comes first. */
export function groupByProject(sessions: readonly SessionSummary[]): Project[] {
  const newestFirst = sessions.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  return [...Map.groupBy(newestFirst, ({ projectId }) => projectId)].map(([projectId, own]) => {
    const projectDir = own[0]?.projectDir ?? projectId;
    const homeDir = homedir();
    return {
      projectId,
      projectDir,
      name: basename(projectDir) || projectDir,
      ...(projectDir.startsWith(`${homeDir}/`) && { homeDir }),
      sessions: own,
    };
  });
}

/** Returns the folders of all projects, the most recently used first. */
export function projectFolders(records: readonly SessionRecord[]): string[] {
  const newestFirst = records.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  return [...new Set(newestFirst.map(({ projectDir }) => projectDir))];
}
