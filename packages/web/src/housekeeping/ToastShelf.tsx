import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from '../look/controls.tsx';
import { type Toast, useToast } from './housekeeping.tsx';
import css from './ToastShelf.module.css';

/**
 * The time (ms) after which a toast disappears, unless it has the pointer or the focus. A toast about a problem stays
 * until it is dismissed.
 */
const staysMs = 8_000;

/** Where toasts appear. */
export function ToastShelf() {
  const { toast, dismiss } = useToast();
  return (
    <div className={css.shelf} role="status">
      {toast !== undefined && <ToastCard toast={toast} onDismiss={dismiss} />}
    </div>
  );
}

function ToastCard({ toast, onDismiss }: { toast: Toast; onDismiss: () => void }) {
  const [isHeld, setHeld] = useState(false);
  const stays = isHeld || toast.isProblem === true;
  useEffect(() => {
    if (stays) return undefined;
    const timer = setTimeout(onDismiss, staysMs);
    return () => clearTimeout(timer);
  }, [onDismiss, stays, toast]);
  const hold = () => setHeld(true);
  const release = () => setHeld(false);
  return (
    <div
      className={css.toast}
      data-problem={toast.isProblem}
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocus={hold}
      onBlur={release}
    >
      <bdi className={css.text}>{toast.text}</bdi>
      {toast.undo !== undefined && (
        <Button look="quiet" className={css.undo} onClick={toast.undo}>
          Undo
        </Button>
      )}
      <IconButton label="Dismiss" onClick={onDismiss}>
        <X size={13} aria-hidden="true" />
      </IconButton>
    </div>
  );
}
