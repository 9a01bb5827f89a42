import type { SessionSummary } from '@liminal/protocol';
import { StateMark } from '../look/StateMark.tsx';
import { useIsUnseen } from './use-unseen.ts';

/** A mark for the state of a session, and for a session that finished its work while it was not shown. */
export function SessionMark({ session }: { session: SessionSummary }) {
  const isUnseen = useIsUnseen(session.sessionId);
  return <StateMark state={session.state} isPaused={session.queuePaused} isUnseen={isUnseen} />;
}
