import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import { X } from 'lucide-react';
import { useState } from 'react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useAgentName } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import css from './TabBar.module.css';
import { labelOf } from '../words/label.ts';
import { useIsUnseen } from '../app/use-unseen.ts';
import { SessionMark } from '../app/SessionMark.tsx';

/** The tab of one session. The title of a previewed session is slanted; a double click keeps its tab. */
export function Tab({ sessionId }: { sessionId: string }) {
  const { active, preview, close, move } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  const [dragOver, setDragOver] = useState(false);
  const isActive = active === sessionId;
  const isPreview = preview === sessionId;
  const isUnseen = useIsUnseen(sessionId);
  const title = session?.title ?? 'Session';
  const agentName = useAgentName(session?.cliType);
  const lines = [
    labelOf(title),
    session === undefined ? '' : agentName,
    isPreview ? 'Double-click to keep this tab' : '',
  ];

  return (
    <li
      className={css.tab}
      data-session-id={sessionId}
      data-active={isActive}
      data-preview={isPreview}
      data-unseen={isUnseen}
      data-drag-over={dragOver}
    >
      <SessionLink
        sessionId={sessionId}
        className={css.link}
        aria-current={isActive ? 'page' : undefined}
        title={lines.filter(Boolean).join('\n')}
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
        {session !== undefined && <SessionMark session={session} />}
        <bdi className={css.title}>{title}</bdi>
        {session !== undefined && <AgentMark cliType={session.cliType} />}
      </SessionLink>
      <button
        type="button"
        className={css.close}
        // The Delete key closes the tab that has the focus.
        tabIndex={-1}
        data-beside
        aria-label={`Close ${labelOf(title)}`}
        onClick={() => close(sessionId)}
      >
        <X size={13} aria-hidden="true" />
      </button>
    </li>
  );
}
