import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useLayer } from '../app/history.ts';
import { IconButton, joinClasses } from './controls.tsx';
import css from './Dialog.module.css';
import { labelOf } from '../words/label.ts';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /**
   * `wide` is as wide as its content; `drawer` slides in from the left edge; `sheet` covers the page; `bare` shows no
   * title.
   */
  look?: 'plain' | 'wide' | 'bare' | 'drawer' | 'sheet';
}

/**
 * Returns the element that receives the focus after the dialog is closed: the menu's button, if a menu entry opened the
 * dialog.
 */
function openerOf(focused: Element | null): Element | null {
  const menu = focused?.closest('[role="menu"]');
  return menu ? document.querySelector(`[aria-controls="${CSS.escape(menu.id)}"]`) : focused;
}

/**
 * A modal dialog, for which the page uses the browser's own dialog: the focus stays inside and is restored afterwards,
 * and Escape and Back close the dialog. The main control has the attribute `data-autofocus`.
 */
export function Dialog({ title, onClose, children, look = 'plain' }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const hasTitle = look === 'plain' || look === 'wide';
  useLayer(true, () => ref.current?.close());
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return undefined;
    const opener = openerOf(document.activeElement);
    if (!dialog.open) dialog.showModal();
    // Focus the main control, because the browser focuses the first control, and that is the close button.
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      // A dialog that is removed while it is open does not restore the focus.
      const isLost = document.activeElement === document.body;
      if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  return (
    // A click on the backdrop is a click on the dialog; Escape is the key for it.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={ref}
      className={joinClasses(css.dialog, look !== 'plain' && css[look])}
      aria-labelledby={hasTitle ? titleId : undefined}
      aria-label={hasTitle ? undefined : labelOf(title)}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div className={css.content}>
        {hasTitle && (
          <div className={css.head}>
            <h2 id={titleId}>{labelOf(title)}</h2>
            <IconButton label="Close" onClick={() => ref.current?.close()}>
              <X size={16} />
            </IconButton>
          </div>
        )}
        {children}
      </div>
    </dialog>
  );
}
