import type { SessionSummary } from '@liminal/protocol';
import { memo } from 'react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useAgentName } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import { StateMark } from '../look/StateMark.tsx';
import { ago } from '../words/time.ts';
import css from './Sidebar.module.css';

interface SessionRowProps {
  session: SessionSummary;
  now: number;
  onFollow?: (() => void) | undefined;
}

/** One session: its state, its title, and the time of its last activity. */
export const SessionRow = memo(function SessionRow({ session, now, onFollow }: SessionRowProps) {
  const { active } = useNavigation();
  const agentName = useAgentName(session.cliType);
  const isActive = active === session.sessionId;
  const origin = session.source === 'agent' ? `, from ${agentName} itself` : '';
  return (
    <li>
      <SessionLink
        sessionId={session.sessionId}
        onFollow={onFollow}
        className={css.row}
        data-session-id={session.sessionId}
        data-status={session.state}
        data-source={session.source}
        aria-current={isActive ? 'page' : undefined}
        title={`${session.title}\n${agentName}${origin}`}
      >
        <StateMark state={session.state} />
        <span className={css.title}>{session.title}</span>
        <AgentMark cliType={session.cliType} />
        <span className={css.meta}>{ago(session.updatedAt, now)}</span>
      </SessionLink>
    </li>
  );
});
