import { useSessions } from '@liminal/client/react';
import type { SessionSummary } from '@liminal/protocol';
import { Keyboard, Plus, Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState, useEffect, useCallback } from 'react';
import { altKey } from '../app/keys.ts';
import { Button, Kbd } from '../look/controls.tsx';
import { useRoving } from '../look/use-roving.ts';
import { HistoryHits } from '../search/HistoryHits.tsx';
import { useHistorySearch } from '../search/use-history-search.ts';
import { RowMenuProvider } from './row-menu.tsx';
import { SessionRow } from './SessionRow.tsx';
import { type RowProps, SessionSection } from './SessionSection.tsx';
import css from './Sidebar.module.css';
import { groupSessions, needingYou, searchSessions } from './session-groups.ts';
import { readTexts } from '../storage/read-texts.ts';
import { shortPath } from '../words/paths.ts';
import { labelOf } from '../words/label.ts';

interface SidebarProps {
  onNew: () => void;
  onKeys: () => void;
  /** Called when a session is chosen. */
  onFollow?: () => void;
  /** Content at the end of the sidebar. */
  children?: ReactNode;
}

/**
 * Lists all sessions: first the sessions that wait for a person, then the pinned sessions, then the others by project,
 * and at the end the archived sessions.
 */
export function Sidebar({ onNew, onKeys, onFollow, children }: SidebarProps) {
  const { projects, phase } = useSessions();
  const [search, setSearch] = useState('');
  const now = useNow();
  const found = searchSessions(projects, search);
  const waiting = needingYou(found);
  const groups = groupSessions(found);
  const [isArchiveOpen, setArchiveOpen] = useState(false);
  const [collapsed, toggle] = useCollapsed();
  const history = useHistorySearch(search);
  const { ref, onKeyDown } = useRoving<HTMLDivElement>('column');
  const isSearching = search.trim() !== '';
  const agents = new Set(projects.flatMap((one) => one.sessions.map(({ cliType }) => cliType)));
  const rows = { now, onFollow, showsAgent: agents.size > 1 };
  const hasNothing = found.length === 0 && history.phase === 'idle';

  const onSearchKey = (event: KeyboardEvent) => {
    const first = ref.current?.querySelector<HTMLElement>('a[href], button');
    if (event.key === 'ArrowDown' && first) {
      event.preventDefault();
      first.focus();
    }
    if (event.key === 'Escape' && search !== '') {
      // Prevent the default, because Escape would otherwise also close the drawer.
      event.preventDefault();
      setSearch('');
    }
  };

  return (
    <nav className={css.sidebar} aria-label="Sessions">
      <div className={css.top}>
        <Button className={css.new} onClick={onNew} title={`New session (${altKey('N')})`}>
          <Plus size={16} aria-hidden="true" />
          New session
        </Button>
        <label className={css.search}>
          <Search size={14} aria-hidden="true" />
          <input
            type="search"
            aria-label="Search sessions"
            placeholder="Search"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={onSearchKey}
          />
        </label>
      </div>
      {/* The element receives keys that are pressed in the entries inside it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className={css.list} ref={ref} onKeyDown={onKeyDown}>
        <RowMenuProvider>
          {waiting.length > 0 && (
            <TopSection name="Needs you" sessions={waiting} isUrgent rows={rows} />
          )}
          {groups.pinned.length > 0 && (
            <TopSection name="Pinned" sessions={groups.pinned} rows={rows} />
          )}
          {groups.projects.map(({ projectId, projectDir, name, sessions }) => (
            <SessionSection
              key={projectId}
              name={name}
              heading={
                <span className={css.path}>
                  <bdi>{shortPath(projectDir)}</bdi>
                </span>
              }
              title={labelOf(projectDir)}
              sessions={sessions}
              open={isSearching || !collapsed.has(projectId)}
              onToggle={() => toggle(projectId)}
              rows={rows}
            />
          ))}
          {groups.archived.length > 0 && (
            <SessionSection
              name="Archived"
              heading={
                <>
                  Archived <span>{groups.archived.length}</span>
                </>
              }
              sessions={groups.archived}
              open={isSearching || isArchiveOpen}
              onToggle={() => setArchiveOpen(!isArchiveOpen)}
              rows={rows}
            />
          )}
        </RowMenuProvider>
        <HistoryHits search={history} query={search} onFollow={onFollow} />
        {hasNothing && <EmptyMessage phase={phase} searched={isSearching} />}
      </div>
      <footer className={css.foot}>
        <Button look="quiet" onClick={onKeys}>
          <Keyboard size={15} aria-hidden="true" />
          Keyboard shortcuts <Kbd>?</Kbd>
        </Button>
      </footer>
      {children}
    </nav>
  );
}

interface TopSectionProps {
  name: string;
  sessions: readonly SessionSummary[];
  isUrgent?: boolean;
  rows: RowProps;
}

/** A section that cannot be folded. */
function TopSection({ name, sessions, isUrgent = false, rows }: TopSectionProps) {
  return (
    <section aria-label={labelOf(name)}>
      <h2 className={css.heading} data-urgent={isUrgent}>
        {name} {isUrgent && <span>{sessions.length}</span>}
      </h2>
      <ul className={css.rows}>
        {sessions.map((session) => (
          <SessionRow key={session.sessionId} session={session} {...rows} />
        ))}
      </ul>
    </section>
  );
}

function EmptyMessage({ phase, searched }: { phase: string; searched: boolean }) {
  if (phase === 'loading') {
    return (
      <p className={css.nothing} role="status">
        Loading sessions…
      </p>
    );
  }
  if (searched) return <p className={css.nothing}>Nothing found.</p>;
  if (phase === 'failed') return <p className={css.nothing}>The sessions could not be read.</p>;
  return <p className={css.nothing}>No sessions yet. The first one you start appears here.</p>;
}

/** Returns the current time in ms. The time is updated often enough for texts such as "5 min". */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The key in the browser's storage. The stored value contains only project ids. */
const storageKey = 'liminal.collapsed';

/** Returns the projects that are collapsed on this device, and a function that collapses or expands a project. */
function useCollapsed(): [ReadonlySet<string>, toggle: (projectId: string) => void] {
  const [collapsed, setCollapsed] = useState(readCollapsed);
  const toggle = useCallback((projectId: string) => {
    // Read the stored value again, because another window may have collapsed other projects.
    const stored = readCollapsed();
    const next = stored.has(projectId)
      ? new Set([...stored].filter((id) => id !== projectId))
      : new Set([...stored, projectId]);
    localStorage.setItem(storageKey, JSON.stringify([...next]));
    setCollapsed(next);
  }, []);
  return [collapsed, toggle];
}

const readCollapsed = (): ReadonlySet<string> =>
  new Set(readTexts(localStorage.getItem(storageKey)));
