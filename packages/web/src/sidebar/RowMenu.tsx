import type { SessionSummary } from '@liminal/protocol';
import { useLayer } from '../app/history.ts';
import { SessionItems } from '../housekeeping/SessionItems.tsx';
import { OpenMenu } from '../look/Menu.tsx';
import { labelOf } from '../words/label.ts';

/** Where a menu opens: at an element, or where the pointer was. */
export interface Anchor {
  /** Gets the focus back when the menu closes. */
  element: HTMLElement;
  at?: { x: number; y: number } | undefined;
}

interface RowMenuProps {
  session: SessionSummary;
  anchor: Anchor;
  onClose: () => void;
}

/** The actions on a session in a list. */
export default function RowMenu({ session, anchor: { element, at }, onClose }: RowMenuProps) {
  useLayer(true, onClose);
  const anchor = at ? { getBoundingClientRect: () => new DOMRect(at.x, at.y, 0, 0) } : element;
  const close = () => {
    // At once, so that a dialog that an entry opens returns the focus to this element.
    element.focus();
    onClose();
  };
  return (
    <OpenMenu
      onClose={close}
      // Inside an open dialog, because nothing outside of it can be used.
      container={element.closest('dialog') ?? document.body}
      anchor={anchor}
      align={at ? 'start' : 'end'}
      sideOffset={at ? 0 : 4}
      aria-label={labelOf(session.title)}
      finalFocus={() => (element.isConnected ? element : true)}
    >
      <SessionItems session={session} />
    </OpenMenu>
  );
}
