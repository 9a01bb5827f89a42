import type { SessionSummary } from '@liminal/protocol';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useNavigation } from '../app/navigation.tsx';
import { Disclosure } from '../look/Disclosure.tsx';
import { SessionRow } from './SessionRow.tsx';
import css from './Sidebar.module.css';
import { labelOf } from '../words/label.ts';

/** The props that all rows of the sidebar share. */
export interface RowProps {
  now: number;
  showsAgent: boolean;
  onFollow: (() => void) | undefined;
}

interface SessionSectionProps {
  /** The section's accessible name. */
  name: string;
  heading: ReactNode;
  title?: string | undefined;
  sessions: readonly SessionSummary[];
  /** Whether the section's sessions are shown. */
  open: boolean;
  onToggle: () => void;
  rows: RowProps;
}

/** The number of sessions that are shown at first, and the number that each click on "more" adds. */
const shownFirst = 12;
const shownMore = 50;
/** If no more sessions than this are left, they are shown without a click. */
const few = 3;

/**
 * A group of sessions under a heading. A press on the heading folds the group. The active session is shown even if the
 * group is folded.
 */
export function SessionSection(props: SessionSectionProps) {
  const { name, heading, title, sessions, open, onToggle, rows } = props;
  const { tabs, active } = useNavigation();
  const [count, setCount] = useState(shownFirst);
  const [showsEmpty, setShowsEmpty] = useState(false);
  const isOpen = ({ sessionId }: SessionSummary) => tabs.includes(sessionId);
  const empty = sessions.filter((one) => one.empty === true && !isOpen(one));
  const full = sessions.filter((one) => !empty.includes(one));
  const end = full.length <= count + few ? full.length : count;
  const shown = full.filter(({ sessionId }, index) => index < end || sessionId === active);
  const hidden = full.length - shown.length;
  return (
    <section aria-label={labelOf(name)}>
      <h2 className={css.heading}>
        <Disclosure isOpen={open} onToggle={onToggle} title={title}>
          <ChevronRight size={12} aria-hidden="true" />
          {heading}
        </Disclosure>
      </h2>
      {open && (
        <ul className={css.rows}>
          {shown.map((session) => (
            <SessionRow key={session.sessionId} session={session} {...rows} />
          ))}
          {hidden > 0 && (
            <ShowMore onClick={() => setCount(count + shownMore)}>
              Show {Math.min(hidden, shownMore)} more
            </ShowMore>
          )}
          {hidden === 0 && count > shownFirst && (
            <ShowMore onClick={() => setCount(shownFirst)}>Show fewer</ShowMore>
          )}
          {empty.length > 0 && (
            <ShowMore isOpen={showsEmpty} onClick={() => setShowsEmpty(!showsEmpty)}>
              {empty.length === 1 ? '1 empty session' : `${empty.length} empty sessions`}
            </ShowMore>
          )}
          {showsEmpty &&
            empty.map((session) => (
              <SessionRow key={session.sessionId} session={session} {...rows} />
            ))}
        </ul>
      )}
    </section>
  );
}

interface MoreProps {
  isOpen?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** A button between the rows that shows more sessions or fewer. */
function ShowMore({ isOpen, onClick, children }: MoreProps) {
  return (
    <li>
      <button type="button" className={css.more} aria-expanded={isOpen} onClick={onClick}>
        {children}
      </button>
    </li>
  );
}
