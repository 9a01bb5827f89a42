import { findSession, type JoinedTurn, joinTurns } from '@liminal/client';
import { useSession, useSessions } from '@liminal/client/react';
import type { SessionState } from '@liminal/protocol';
import { useCallback, useEffect, useRef, useState } from 'react';
import spoken from '../look/spoken.module.css';
import { useAgentName } from './agents.tsx';
import { useNavigation } from './navigation.tsx';
import { news } from './news.ts';
import { labelOf } from '../words/label.ts';

/** Announces once, to screen readers, that a turn has ended, or that a session needs a person or has failed. */
export function Announcer() {
  const { active } = useNavigation();
  const [said, setSaid] = useState({ text: '', count: 0 });
  const say = useCallback(
    (text: string) => setSaid((last) => ({ text, count: last.count + 1 })),
    [],
  );
  return (
    <>
      <div role="status" className={spoken.only} data-announcements>
        {/* A new key, so that a repeated text is announced again. */}
        <p key={said.count}>{said.text}</p>
      </div>
      <SessionNews active={active} say={say} />
      {active !== undefined && <AnswerNews key={active} sessionId={active} say={say} />}
    </>
  );
}

interface NewsProps {
  say: (text: string) => void;
}

/** Announces hidden sessions that now wait for a person or have failed. */
function SessionNews({ active, say }: NewsProps & { active: string | undefined }) {
  const { projects } = useSessions();
  const before = useRef<ReadonlyMap<string, SessionState>>(undefined);
  useEffect(() => {
    const sessions = projects.flatMap((project) => project.sessions);
    const known = before.current;
    before.current = new Map(sessions.map(({ sessionId, state }) => [sessionId, state]));
    const told = known === undefined ? [] : news(known, sessions, active);
    if (told.length > 0) say(told.join(' '));
  }, [active, projects, say]);
  return null;
}

/** Whether the turn has ended, and no later turn continues it. */
const isOver = ({ status, goesOnIn }: JoinedTurn): boolean =>
  status !== 'in_progress' && goesOnIn === undefined;

/** Announces the end of each turn of the shown session. */
function AnswerNews({ sessionId, say }: NewsProps & { sessionId: string }) {
  const { view } = useSession(sessionId);
  const session = findSession(useSessions().projects, sessionId);
  const name = useAgentName(session?.cliType ?? view.info?.session.cliType);
  const ended = joinTurns(view.turns).findLast(isOver);
  const isReady = view.phase === 'ready';
  const last = useRef<string | undefined>(undefined);
  const wasReady = useRef(false);
  useEffect(() => {
    if (!isReady) return;
    const isNew = wasReady.current && ended !== undefined && ended.turnId !== last.current;
    wasReady.current = true;
    last.current = ended?.turnId;
    if (isNew && ended.status === 'complete') say(`${name} has answered.`);
    if (isNew && ended.status === 'aborted') say(`${name} was stopped.`);
    if (isNew && ended.status === 'error')
      say(`${name} has failed. ${labelOf(ended.error?.message ?? '')}`);
  }, [ended, isReady, name, say]);
  return null;
}
