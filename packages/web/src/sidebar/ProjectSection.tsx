import type { Project } from '@liminal/protocol';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { shortPath } from '../words/paths.ts';
import { SessionRow } from './SessionRow.tsx';
import css from './Sidebar.module.css';

interface ProjectSectionProps {
  project: Project;
  now: number;
  /** Whether its sessions are shown. */
  open: boolean;
  onToggle: () => void;
  onFollow?: (() => void) | undefined;
}

/** Sessions shown before a click on "more". */
const visible = 6;

/** A project's folder and its sessions, the newest first. */
export function ProjectSection({ project, now, open, onToggle, onFollow }: ProjectSectionProps) {
  const [all, setAll] = useState(false);
  const { sessions } = project;
  const shown = all ? sessions : sessions.slice(0, visible);
  return (
    <section aria-label={project.name}>
      <h2 className={css.heading}>
        <button type="button" aria-expanded={open} title={project.projectDir} onClick={onToggle}>
          <ChevronRight size={12} aria-hidden="true" />
          <span className={css.path}>
            <bdi>{shortPath(project.projectDir)}</bdi>
          </span>
        </button>
      </h2>
      {open && (
        <ul className={css.rows}>
          {shown.map((session) => (
            <SessionRow key={session.sessionId} session={session} now={now} onFollow={onFollow} />
          ))}
          {sessions.length > visible && (
            <li>
              <button type="button" className={css.more} onClick={() => setAll(!all)}>
                {all ? 'Show fewer' : `Show ${sessions.length - visible} more`}
              </button>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
