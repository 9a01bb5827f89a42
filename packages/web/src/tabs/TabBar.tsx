import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import { Command, Menu, Plus, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useAgentName } from '../app/agents.tsx';
import { altKey, commandKey } from '../app/keys.ts';
import { useNavigation } from '../app/navigation.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import { IconButton } from '../look/controls.tsx';
import { StateMark } from '../look/StateMark.tsx';
import css from './TabBar.module.css';

interface TabBarProps {
  onNew: () => void;
  onPalette: () => void;
  onSidebar: () => void;
}

/** Fetched with the first session: it brings the menus with it. */
const SessionMenu = lazy(() => import('./SessionMenu.tsx'));

/** Open sessions, side by side. */
export function TabBar({ onNew, onPalette, onSidebar }: TabBarProps) {
  const { tabs, active } = useNavigation();
  return (
    <header className={css.bar}>
      <IconButton className={css.sidebarButton} label="Sessions" onClick={onSidebar}>
        <Menu size={17} />
      </IconButton>
      <nav className={css.tabs} aria-label="Open sessions">
        <ul className={css.list}>
          {tabs.map((sessionId) => (
            <Tab key={sessionId} sessionId={sessionId} />
          ))}
        </ul>
      </nav>
      <IconButton label={`New session (${altKey('N')})`} onClick={onNew}>
        <Plus size={16} />
      </IconButton>
      <IconButton label={`Commands (${commandKey('K')})`} onClick={onPalette}>
        <Command size={15} />
      </IconButton>
      {active !== undefined && (
        <Suspense fallback={<span className={css.menuSpace} />}>
          <SessionMenu sessionId={active} />
        </Suspense>
      )}
    </header>
  );
}

function Tab({ sessionId }: { sessionId: string }) {
  const { active, close, move } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  const [dragOver, setDragOver] = useState(false);
  const element = useRef<HTMLLIElement>(null);
  const isActive = active === sessionId;
  const title = session?.title ?? 'Session';
  const agentName = useAgentName(session?.cliType);

  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isActive]);

  return (
    <li
      ref={element}
      className={css.tab}
      data-session-id={sessionId}
      data-active={isActive}
      data-drag-over={dragOver}
    >
      <SessionLink
        sessionId={sessionId}
        className={css.link}
        aria-current={isActive ? 'page' : undefined}
        title={session === undefined ? title : `${title}\n${agentName}`}
        draggable
        onDragStart={(event) => event.dataTransfer.setData('text/x-liminal-tab', sessionId)}
        onDragOver={(event) => {
          if (!event.dataTransfer.types.includes('text/x-liminal-tab')) return;
          event.preventDefault();
          setDragOver(true);
        }}
        onDragLeave={() => setDragOver(false)}
        onDrop={(event) => {
          setDragOver(false);
          move(event.dataTransfer.getData('text/x-liminal-tab'), sessionId);
        }}
        onAuxClick={(event) => {
          if (event.button !== 1) return;
          event.preventDefault();
          close(sessionId);
        }}
      >
        {session !== undefined && <StateMark state={session.state} />}
        <span className={css.title}>{title}</span>
        {session !== undefined && <AgentMark cliType={session.cliType} />}
      </SessionLink>
      <button
        type="button"
        className={css.close}
        aria-label={`Close ${title}`}
        onClick={() => close(sessionId)}
      >
        <X size={13} aria-hidden="true" />
      </button>
    </li>
  );
}
