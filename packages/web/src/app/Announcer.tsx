import { findSession, type JoinedTurn, joinTurns } from '@liminal/client';
import { useSession, useSessions } from '@liminal/client/react';
import type { SessionState } from '@liminal/protocol';
import { useCallback, useEffect, useRef, useState } from 'react';
import spoken from '../look/spoken.module.css';
import { useAgentName } from './agents.tsx';
import { useNavigation } from './navigation.tsx';
import { sessionAnnouncements } from './session-announcements.ts';
import { labelOf } from '../words/label.ts';

/**
 * Announces to screen readers, once each, that a turn has ended, that a session waits for a person, or that a session
 * has failed.
 */
export function Announcer() {
  const { active } = useNavigation();
  const [announcement, setAnnouncement] = useState({ text: '', count: 0 });
  const announce = useCallback(
    (text: string) => setAnnouncement((last) => ({ text, count: last.count + 1 })),
    [],
  );
  return (
    <>
      <div role="status" className={spoken.only} data-announcements>
        {/* With a new key, screen readers also announce a text that is the same as the text before. */}
        <p key={announcement.count}>{announcement.text}</p>
      </div>
      <SessionAnnouncements active={active} announce={announce} />
      {active !== undefined && (
        <TurnAnnouncements key={active} sessionId={active} announce={announce} />
      )}
    </>
  );
}

interface AnnounceProps {
  announce: (text: string) => void;
}

/** Announces each session that is not shown and now waits for a person or has failed. */
function SessionAnnouncements({
  active,
  announce,
}: AnnounceProps & { active: string | undefined }) {
  const { projects } = useSessions();
  const before = useRef<ReadonlyMap<string, SessionState>>(undefined);
  useEffect(() => {
    const sessions = projects.flatMap((project) => project.sessions);
    const known = before.current;
    before.current = new Map(sessions.map(({ sessionId, state }) => [sessionId, state]));
    const announcements = known === undefined ? [] : sessionAnnouncements(known, sessions, active);
    if (announcements.length > 0) announce(announcements.join(' '));
  }, [active, projects, announce]);
  return null;
}

/** Whether the turn has ended, and no later turn continues it. */
const isOver = ({ status, continuedBy }: JoinedTurn): boolean =>
  status !== 'in_progress' && continuedBy === undefined;

/** Announces the end of each turn of the shown session. */
function TurnAnnouncements({ sessionId, announce }: AnnounceProps & { sessionId: string }) {
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
    if (isNew && ended.status === 'complete') announce(`${name} has answered.`);
    if (isNew && ended.status === 'aborted') announce(`${name} was stopped.`);
    if (isNew && ended.status === 'error')
      announce(`${name} has failed. ${labelOf(ended.error?.message ?? '')}`);
  }, [ended, isReady, name, announce]);
  return null;
}
