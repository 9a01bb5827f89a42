import { Menu } from '@base-ui/react/menu';
import type { SessionSummary } from '@liminal/protocol';
import { useLayer } from '../app/history.ts';
import { SessionItems } from '../housekeeping/SessionItems.tsx';
import menu from '../look/menu.module.css';
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
  const close = (isOpen: boolean) => {
    if (isOpen) return;
    // Focus the element now, so that a dialog that a menu entry opens returns the focus to this element.
    element.focus();
    onClose();
  };
  return (
    <Menu.Root open onOpenChange={close}>
      {/* The menu is inside the open dialog, because nothing outside of the dialog can be used. */}
      <Menu.Portal container={element.closest('dialog') ?? document.body}>
        <Menu.Positioner
          className={menu.positioner}
          anchor={anchor}
          align={at ? 'start' : 'end'}
          sideOffset={at ? 0 : 4}
        >
          <Menu.Popup
            className={menu.popup}
            aria-label={labelOf(session.title)}
            finalFocus={() => (element.isConnected ? element : true)}
          >
            <SessionItems session={session} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
