import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import type { ForkOrigin, SessionSummary } from '@liminal/protocol';
import { useAgentName } from '../app/agents.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import { shortPath } from '../words/paths.ts';
import css from './SessionStates.module.css';
import { labelOf } from '../words/label.ts';

interface SessionIntroProps {
  session: SessionSummary | undefined;
  isEmpty: boolean;
}

/** Shows the text above a session's first message: the agent, the folder, and, in a new session, hints. */
export function SessionIntro({ session, isEmpty }: SessionIntroProps) {
  const agentName = useAgentName(session?.cliType);
  if (session === undefined) return null;
  return (
    <header className={css.intro} data-empty={isEmpty}>
      <h2>{session.title}</h2>
      <p>
        {agentName} in{' '}
        <code title={labelOf(session.projectDir)}>{shortPath(session.projectDir)}</code>
      </p>
      {session.forkedFrom && <ForkedFrom {...session.forkedFrom} />}
      {isEmpty && <p>What should the agent do?</p>}
    </header>
  );
}

/** A link to the last turn that a fork shares with the session from which it was forked. */
function ForkedFrom({ sessionId, turnId, title }: ForkOrigin) {
  const original = findSession(useSessions().projects, sessionId);
  const name = <bdi>{original?.title ?? title}</bdi>;
  return (
    <p>
      Forked from{' '}
      {original === undefined ? (
        name
      ) : (
        <SessionLink sessionId={sessionId} itemId={turnId}>
          {name}
        </SessionLink>
      )}
    </p>
  );
}
