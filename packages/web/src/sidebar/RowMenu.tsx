import type { SessionSummary } from '@liminal/protocol';
import { useLayer } from '../app/history.ts';
import { SessionItems } from '../housekeeping/SessionItems.tsx';
import { OpenMenu } from '../look/Menu.tsx';
import { labelOf } from '../words/label.ts';

/** The position at which a menu opens: at an element, or where the pointer was. */
export interface Anchor {
  /** The element that receives the focus when the menu closes. */
  element: HTMLElement;
  at?: { x: number; y: number } | undefined;
}

interface RowMenuProps {
  session: SessionSummary;
  anchor: Anchor;
  onClose: () => void;
}

/** A menu with the actions on a session in a list. */
export default function RowMenu({ session, anchor: { element, at }, onClose }: RowMenuProps) {
  useLayer(true, onClose);
  const anchor = at ? { getBoundingClientRect: () => new DOMRect(at.x, at.y, 0, 0) } : element;
  const close = () => {
    // Focus the element now, so that a dialog that a menu entry opens returns the focus to this element.
    element.focus();
    onClose();
  };
  return (
    <OpenMenu
      onClose={close}
      // The menu is inside the open dialog, because nothing outside of the dialog can be used.
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
