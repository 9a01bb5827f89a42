import type { SessionSummary } from '@liminal/protocol';
import { Archive } from 'lucide-react';
import { focusComposer } from '../composer/focus-composer.ts';
import { Button } from '../look/controls.tsx';
import css from './ArchivedNote.module.css';
import { useHousekeeping } from './housekeeping.tsx';

/** Reports that the session is archived, and how to restore it. */
export function ArchivedNote({ session }: { session: SessionSummary | undefined }) {
  const { unarchive } = useHousekeeping();
  if (session?.archived !== true) return null;
  return (
    <div className={css.note}>
      <Archive size={14} aria-hidden="true" />
      <p>This session is archived. Send a message to restore it.</p>
      <Button
        look="quiet"
        onClick={(event) => {
          unarchive(session);
          // The button disappears, so the focus must move to the composer. On a phone, that would open the keyboard, so
          // the focus does not move there.
          if (
            event.nativeEvent instanceof PointerEvent &&
            event.nativeEvent.pointerType === 'touch'
          )
            return;
          focusComposer();
        }}
      >
        Unarchive
      </Button>
    </div>
  );
}
