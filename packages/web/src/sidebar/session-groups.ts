import type { Project, SessionSummary } from '@liminal/protocol';

type Projects = readonly Project[];

/** Returns the sessions that wait for a person. The session that has waited longest comes first. */
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
  /** The pinned sessions of all projects, the newest first, without archived sessions. */
  pinned: SessionSummary[];
  /** The projects with their remaining sessions. */
  projects: Projects;
  /** Newest first. */
  archived: SessionSummary[];
}

/**
 * Returns the groups of the session list. Each session is in one group; `needingYou` returns the sessions that wait for
 * a person, and these are in no group here.
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

/** Whether the session does not wait for a person, and is therefore in one of these groups. */
const isElsewhere = ({ state }: SessionSummary) => state !== 'waiting';

/** Returns the projects with those sessions whose title, agent or folder contains all words of a search. */
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
