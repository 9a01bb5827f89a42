import type { SessionSummary } from '@liminal/protocol';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { SessionRow } from './SessionRow.tsx';
import css from './Sidebar.module.css';
import { labelOf } from '../words/label.ts';

interface SessionSectionProps {
  /** For people who do not see the heading. */
  name: string;
  heading: ReactNode;
  title?: string | undefined;
  sessions: readonly SessionSummary[];
  now: number;
  /** Whether its sessions are shown. */
  open: boolean;
  onToggle: () => void;
  onFollow?: (() => void) | undefined;
}

/** Sessions shown before a click on "more". */
const visible = 6;

/** Sessions that belong together, under a heading that folds them. */
export function SessionSection(props: SessionSectionProps) {
  const { name, heading, title, sessions, now, open, onToggle, onFollow } = props;
  const [all, setAll] = useState(false);
  const shown = all ? sessions : sessions.slice(0, visible);
  return (
    <section aria-label={labelOf(name)}>
      <h2 className={css.heading}>
        <button type="button" aria-expanded={open} title={title} onClick={onToggle}>
          <ChevronRight size={12} aria-hidden="true" />
          {heading}
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
