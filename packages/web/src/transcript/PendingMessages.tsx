import type { PendingMessage, SessionStore } from '@liminal/client';
import { Button } from '../look/controls.tsx';
import { MentioningText, useUnmentioned } from '../mentions/MentioningText.tsx';
import { Attachments } from './Attachments.tsx';
import { useSessionActions } from './session-actions.ts';
import css from './UserMessage.module.css';

interface PendingMessagesProps {
  pending: readonly PendingMessage[];
  session: SessionStore;
}

/** Shows messages that were sent from this page and that the server has not reported yet. */
export function PendingMessages({ pending, session }: PendingMessagesProps) {
  return pending.map((held) => <PendingRow key={held.turnId} held={held} session={session} />);
}

interface PendingProps {
  held: PendingMessage;
  session: SessionStore;
}

function PendingRow({ held, session }: PendingProps) {
  const others = useUnmentioned(held.message, held.blocks);
  return (
    <div className={css.row} data-status={held.state}>
      <div className={css.said} role="article" aria-label="Unsent message">
        <Attachments blocks={others} look="mine" />
        {held.message !== '' && (
          <div
            className={css.bubble}
            data-faint={held.state !== 'failed'}
            data-failed={held.state === 'failed'}
          >
            <MentioningText text={held.message} blocks={held.blocks} />
          </div>
        )}
      </div>
      {held.state === 'sending' && <p className={css.sending}>Sending…</p>}
      {(held.state === 'waiting' || held.state === 'failed') && (
        <Unsent held={held} session={session} />
      )}
    </div>
  );
}

/** Shows why a message was not sent, and what a person can do. */
function Unsent({ held, session }: PendingProps) {
  const { takeBack } = useSessionActions();
  const isRefused = held.state === 'failed';
  return (
    <div className={css.failure} data-failed={isRefused} role={isRefused ? 'alert' : 'status'}>
      <span>
        {isRefused ? `Not sent: ${held.error?.message}` : 'Sends when you are back online'}
      </span>
      {isRefused && (
        <Button look="quiet" onClick={() => void session.sendAgain(held.turnId)}>
          {held.isSteer ? 'Send as a message' : 'Send again'}
        </Button>
      )}
      <Button
        look="quiet"
        onClick={() => {
          session.forget(held.turnId);
          takeBack(held.message, held.blocks);
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
