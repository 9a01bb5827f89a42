import { useSessions } from '@liminal/client/react';
import { Keyboard, Plus, Search } from 'lucide-react';
import { type KeyboardEvent, useState, useEffect, useCallback } from 'react';
import { altKey } from '../app/keys.ts';
import { Button, Kbd } from '../look/controls.tsx';
import { useRoving } from '../look/use-roving.ts';
import { HistoryHits } from '../search/HistoryHits.tsx';
import { useHistorySearch } from '../search/use-history-search.ts';
import { ProjectSection } from './ProjectSection.tsx';
import { SessionRow } from './SessionRow.tsx';
import css from './Sidebar.module.css';
import { needingYou, searchSessions } from './session-groups.ts';
import { readTexts } from '../kept/read-texts.ts';

interface SidebarProps {
  onNew: () => void;
  onKeys: () => void;
  /** Called when a session is chosen. */
  onFollow?: () => void;
}

/** All sessions: first those that need a person, then by project. */
export function Sidebar({ onNew, onKeys, onFollow }: SidebarProps) {
  const { projects, phase } = useSessions();
  const [search, setSearch] = useState('');
  const now = useNow();
  const found = searchSessions(projects, search);
  const waiting = needingYou(found);
  const [collapsed, toggle] = useCollapsed();
  const history = useHistorySearch(search);
  const { ref, onKeyDown } = useRoving<HTMLDivElement>('column');
  const isSearching = search.trim() !== '';
  const hasNothing = found.length === 0 && history.phase === 'idle';

  const onSearchKey = (event: KeyboardEvent) => {
    const first = ref.current?.querySelector<HTMLElement>('a[href], button');
    if (event.key === 'ArrowDown' && first) {
      event.preventDefault();
      first.focus();
    }
    if (event.key === 'Escape' && search !== '') {
      // Otherwise the key closes the drawer too.
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
      {/* Keys reach it from the entries inside. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className={css.list} ref={ref} onKeyDown={onKeyDown}>
        {waiting.length > 0 && (
          <section aria-label="Needs you">
            <h2 className={css.heading} data-urgent="true">
              Needs you <span>{waiting.length}</span>
            </h2>
            <ul className={css.rows}>
              {waiting.map((session) => (
                <SessionRow
                  key={session.sessionId}
                  session={session}
                  now={now}
                  onFollow={onFollow}
                />
              ))}
            </ul>
          </section>
        )}
        {found.map((project) => (
          <ProjectSection
            key={project.projectId}
            project={project}
            now={now}
            open={isSearching || !collapsed.has(project.projectId)}
            onToggle={() => toggle(project.projectId)}
            onFollow={onFollow}
          />
        ))}
        <HistoryHits search={history} query={search} onFollow={onFollow} />
        {hasNothing && <Nothing phase={phase} searched={isSearching} />}
      </div>
      <footer className={css.foot}>
        <Button look="quiet" onClick={onKeys}>
          <Keyboard size={15} aria-hidden="true" />
          Keys <Kbd>?</Kbd>
        </Button>
      </footer>
    </nav>
  );
}

function Nothing({ phase, searched }: { phase: string; searched: boolean }) {
  if (phase === 'loading') {
    return (
      <p className={css.nothing} role="status">
        Loading sessions …
      </p>
    );
  }
  if (searched) return <p className={css.nothing}>Nothing found.</p>;
  if (phase === 'failed') return <p className={css.nothing}>The sessions could not be read.</p>;
  return <p className={css.nothing}>No sessions yet. The first one you start appears here.</p>;
}

/** The time in ms, updated often enough for "5 min". */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Project ids only. */
const storageKey = 'liminal.collapsed';

/** The projects that are collapsed on this device. */
function useCollapsed(): [ReadonlySet<string>, toggle: (projectId: string) => void] {
  const [collapsed, setCollapsed] = useState(readCollapsed);
  const toggle = useCallback((projectId: string) => {
    // Another window may have collapsed others meanwhile.
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
