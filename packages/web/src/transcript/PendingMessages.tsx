import type { PendingMessage, SessionStore } from '@liminal/client';
import { Button } from '../look/controls.tsx';
import { MentioningText } from '../mentions/MentioningText.tsx';
import { useSessionActions } from './session-actions.ts';
import css from './UserMessage.module.css';

interface PendingMessagesProps {
  pending: readonly PendingMessage[];
  session: SessionStore;
}

/** Messages sent from here that the server has not shown yet. */
export function PendingMessages({ pending, session }: PendingMessagesProps) {
  return pending.map((held) => (
    <div key={held.turnId} className={css.row} data-status={held.state}>
      <div
        className={css.bubble}
        data-faint={held.state !== 'failed'}
        data-failed={held.state === 'failed'}
        role="article"
        aria-label="Unsent message"
      >
        <MentioningText text={held.message} blocks={held.blocks} />
      </div>
      {(held.state === 'waiting' || held.state === 'failed') && (
        <Unsent held={held} session={session} />
      )}
    </div>
  ));
}

/** Why a message is not sent, and what a person can do. */
function Unsent({ held, session }: { held: PendingMessage; session: SessionStore }) {
  const { takeBack } = useSessionActions();
  const isRefused = held.state === 'failed';
  return (
    <div className={css.failure} data-failed={isRefused} role={isRefused ? 'alert' : 'status'}>
      <span>
        {isRefused ? `Not sent: ${held.error?.message}` : 'Will be sent when the server is back'}
      </span>
      {isRefused && (
        <Button look="quiet" onClick={() => void session.sendAgain(held.turnId)}>
          Send again
        </Button>
      )}
      <Button
        look="quiet"
        onClick={() => {
          session.forget(held.turnId);
          takeBack(held.message);
        }}
      >
        Edit
      </Button>
      <Button look="quiet" onClick={() => session.forget(held.turnId)}>
        Delete
      </Button>
    </div>
  );
}
