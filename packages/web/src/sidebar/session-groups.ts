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
  /** Newest first, of all projects; those that are archived are not among them. */
  pinned: SessionSummary[];
  /** Projects with all other sessions. */
  projects: Projects;
  /** Newest first. */
  archived: SessionSummary[];
}

/** The groups in which a list shows sessions, each in one: those that need a person are in a group of their own. */
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

/** Not among those that need a person. */
const isElsewhere = ({ state }: SessionSummary) => state !== 'waiting';

/** Projects with the sessions that match a search: all of its words are in title, agent or folder. */
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
