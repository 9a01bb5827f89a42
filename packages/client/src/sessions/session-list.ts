import type { Project, SessionSummary } from '@liminal/protocol';

/** Projects with their sessions. Projects and sessions are ordered by their latest activity, the newest first. */
export type Projects = readonly Project[];

/**
 * Returns the projects after some sessions have changed and others were removed. A project that has not changed stays
 * the same object.
 */
export function applySessions(
  projects: Projects,
  sessions: readonly SessionSummary[],
  removed: readonly string[] = [],
): Projects {
  const remaining = removed.reduce(withoutSession, projects);
  const changed = sessions.reduce(withSession, remaining);
  return changed === projects ? projects : changed.toSorted(byNewest);
}

/** Sorts the projects, and the sessions of each project. */
export function sortProjects(projects: Projects): Projects {
  return projects
    .map((project) => ({ ...project, sessions: project.sessions.toSorted(newer) }))
    .toSorted(byNewest);
}

export function findSession(projects: Projects, sessionId: string): SessionSummary | undefined {
  for (const project of projects) {
    const found = project.sessions.find((session) => session.sessionId === sessionId);
    if (found !== undefined) return found;
  }
  return undefined;
}

function withSession(projects: Projects, session: SessionSummary): Projects {
  const index = projects.findIndex(({ projectId }) => projectId === session.projectId);
  const project = projects[index];
  if (project === undefined) return [...projects, newProject(session)];
  const others = project.sessions.filter(({ sessionId }) => sessionId !== session.sessionId);
  return projects.with(index, { ...project, sessions: [session, ...others].toSorted(newer) });
}

function newProject(session: SessionSummary): Project {
  const { projectId, projectDir } = session;
  const name = projectDir.split('/').findLast((part) => part !== '') ?? projectDir;
  return { projectId, projectDir, name, sessions: [session] };
}

function withoutSession(projects: Projects, sessionId: string): Projects {
  const index = projects.findIndex(({ sessions }) =>
    sessions.some((session) => session.sessionId === sessionId),
  );
  const project = projects[index];
  if (project === undefined) return projects;
  const sessions = project.sessions.filter((session) => session.sessionId !== sessionId);
  return sessions.length === 0
    ? projects.toSpliced(index, 1)
    : projects.with(index, { ...project, sessions });
}

function newer(a: SessionSummary, b: SessionSummary): number {
  return b.updatedAt.localeCompare(a.updatedAt);
}

function byNewest(a: Project, b: Project): number {
  return (b.sessions[0]?.updatedAt ?? '').localeCompare(a.sessions[0]?.updatedAt ?? '');
}
