import type { Project, SessionSummary } from '@liminal/protocol';

type Projects = readonly Project[];

/** Sessions that wait for a person; the one that has waited longest comes first. */
export function needingYou(projects: Projects): SessionSummary[] {
  return projects
    .flatMap((project) => project.sessions)
    .filter((session) => session.state === 'waiting')
    .toSorted((a, b) => waitingSince(a).localeCompare(waitingSince(b)));
}

function waitingSince(session: SessionSummary): string {
  return session.waitingSince ?? session.updatedAt;
}

interface SessionGroups {
  /** Pinned sessions of all projects, newest first, without archived ones. */
  pinned: SessionSummary[];
  /** Projects with the remaining sessions. */
  projects: Projects;
  /** Newest first. */
  archived: SessionSummary[];
}

/**
 * The groups of the session list; each session is in one group. `needingYou` returns the sessions that wait for a
 * person.
 */
export function groupSessions(projects: Projects): SessionGroups {
  const all = projects
    .flatMap((project) => project.sessions)
    .filter(isElsewhere)
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const isPlain = (session: SessionSummary) =>
    isElsewhere(session) && !session.archived && !session.pinned;
  return {
    pinned: all.filter((session) => session.pinned && !session.archived),
    projects: projects
      .map((project) => ({ ...project, sessions: project.sessions.filter(isPlain) }))
      .filter((project) => project.sessions.length > 0),
    archived: all.filter((session) => session.archived),
  };
}

/** Whether the session is not in the group of those that wait for a person. */
const isElsewhere = ({ state }: SessionSummary) => state !== 'waiting';

/** Projects with the sessions whose title, agent or folder contain all words of a search. */
export function searchSessions(projects: Projects, search: string): Projects {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return projects;
  const found = (session: SessionSummary) => {
    const text = `${session.title} ${session.cliType} ${session.projectDir}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return projects
    .map((project) => ({ ...project, sessions: project.sessions.filter(found) }))
    .filter((project) => project.sessions.length > 0);
}
