import type { PendingMessage, SessionStore } from '@liminal/client';
import { Button } from '../look/controls.tsx';
import css from './UserMessage.module.css';

interface PendingMessagesProps {
  pending: readonly PendingMessage[];
  session: SessionStore;
}

/** What was sent from here and the server has not shown yet. */
export function PendingMessages({ pending, session }: PendingMessagesProps) {
  return pending.map((held) => (
    <div key={held.localId} className={css.row} data-status={held.state}>
      <div
        className={css.bubble}
        data-faint={held.state !== 'failed'}
        data-failed={held.state === 'failed'}
      >
        {held.message}
      </div>
      {held.state === 'failed' && (
        <div className={css.failure} role="alert">
          <span>Not sent: {held.error?.message}</span>
          <Button look="quiet" onClick={() => void session.sendAgain(held.localId)}>
            Send again
          </Button>
          <Button look="quiet" onClick={() => session.forget(held.localId)}>
            Discard
          </Button>
        </div>
      )}
    </div>
  ));
}
