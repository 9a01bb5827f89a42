import type { SessionSummary } from '@liminal/protocol';
import { Ellipsis } from 'lucide-react';
import { memo } from 'react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useAgentName } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import { ago } from '../words/time.ts';
import { useRowMenu } from './row-menu.tsx';
import css from './Sidebar.module.css';
import { labelOf } from '../words/label.ts';
import { useIsUnseen } from '../app/use-unseen.ts';
import { SessionMark } from '../app/SessionMark.tsx';

interface SessionRowProps {
  session: SessionSummary;
  /** Whether each row shows its agent, because the list contains sessions of several agents. */
  showsAgent: boolean;
  now: number;
  onFollow?: (() => void) | undefined;
}

/** The row of one session: its state, its title, the time of its last activity, and a menu. */
export const SessionRow = memo(function SessionRow(props: SessionRowProps) {
  const { session, showsAgent, now, onFollow } = props;
  const { active } = useNavigation();
  const openMenu = useRowMenu();
  const agentName = useAgentName(session.cliType);
  const isActive = active === session.sessionId;
  const isUnseen = useIsUnseen(session.sessionId);
  const origin = session.source === 'agent' ? `, from ${agentName} itself` : '';
  return (
    <li className={css.item}>
      <SessionLink
        sessionId={session.sessionId}
        onFollow={onFollow}
        className={css.row}
        data-session-id={session.sessionId}
        data-status={session.state}
        data-unseen={isUnseen}
        data-source={session.source}
        aria-current={isActive ? 'page' : undefined}
        title={`${labelOf(session.title)}\n${agentName}${origin}`}
        onContextMenu={(event) => {
          event.preventDefault();
          const { clientX: x, clientY: y, currentTarget: element } = event;
          // If a key has opened the menu, there is no position of the pointer.
          openMenu(session, { element, at: event.button === 2 ? { x, y } : undefined });
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') openMenu(session, { element: event.currentTarget });
        }}
      >
        <SessionMark session={session} />
        <span className={css.title}>{session.title}</span>
        {showsAgent && <AgentMark cliType={session.cliType} />}
        <span className={css.meta}>{ago(session.updatedAt, now)}</span>
      </SessionLink>
      <button
        type="button"
        className={css.actions}
        // The right arrow key opens the menu of the row that has the focus.
        tabIndex={-1}
        data-beside
        aria-label={`Menu of ${labelOf(session.title)}`}
        aria-haspopup="menu"
        title="Pin, archive, delete"
        onClick={(event) => openMenu(session, { element: event.currentTarget })}
      >
        <Ellipsis size={15} aria-hidden="true" />
      </button>
    </li>
  );
});
