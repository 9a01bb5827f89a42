import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ComponentProps, ReactNode } from 'react';
import { useMenuLayer } from '../app/history.ts';
import { joinClasses } from './controls.tsx';
import controls from './controls.module.css';
import css from './menu.module.css';

type PopupProps = ComponentProps<typeof BaseMenu.Popup>;
type PositionerProps = ComponentProps<typeof BaseMenu.Positioner>;

interface MenuPopupProps
  extends
    Pick<PositionerProps, 'anchor' | 'side' | 'align' | 'sideOffset'>,
    Pick<PopupProps, 'aria-label' | 'finalFocus'> {
  /** The element that contains the popup. Default: the page's body. */
  container?: HTMLElement;
  className?: string | undefined;
  children: ReactNode;
}

interface MenuProps extends MenuPopupProps {
  /** The button that opens the menu: a MenuTrigger or an IconTrigger. */
  trigger: ReactNode;
}

/** A menu with its button; Back closes the menu. */
export function Menu({ trigger, ...popup }: MenuProps) {
  const layer = useMenuLayer();
  return (
    <BaseMenu.Root {...layer}>
      {trigger}
      <MenuPopup {...popup} />
    </BaseMenu.Root>
  );
}

interface OpenMenuProps extends MenuPopupProps {
  onClose: () => void;
}

/** A menu without a button, which is open as long as it is rendered. */
export function OpenMenu({ onClose, ...popup }: OpenMenuProps) {
  return (
    <BaseMenu.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <MenuPopup {...popup} />
    </BaseMenu.Root>
  );
}

function MenuPopup(props: MenuPopupProps) {
  const { container, anchor, side, align = 'end', sideOffset = 6, className, ...popup } = props;
  return (
    <BaseMenu.Portal container={container}>
      <BaseMenu.Positioner className={css.positioner} {...{ anchor, side, align, sideOffset }}>
        <BaseMenu.Popup className={joinClasses(css.popup, className)} {...popup} />
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  );
}

/** The button of a menu. */
export const MenuTrigger = BaseMenu.Trigger;

interface IconTriggerProps {
  /** The menu's name, as the button's accessible name and tooltip. */
  label: string;
  children: ReactNode;
}

/** The button of a menu, with a picture instead of a text. */
export function IconTrigger({ label, children }: IconTriggerProps) {
  return (
    <BaseMenu.Trigger className={controls.icon} aria-label={label} title={label}>
      {children}
    </BaseMenu.Trigger>
  );
}

interface MenuItemProps extends Pick<
  ComponentProps<typeof BaseMenu.Item>,
  'onClick' | 'disabled' | 'label' | 'aria-current'
> {
  icon?: ReactNode;
  children: ReactNode;
  hint?: string | undefined;
  /** The entry's keyboard shortcut; hidden on a touch screen. */
  keys?: string | undefined;
}

/** An entry of a menu: a picture, its content, and a hint at its end. */
export function MenuItem({ icon, children, hint, keys, ...rest }: MenuItemProps) {
  return (
    <BaseMenu.Item className={css.item} {...rest}>
      {icon}
      {children}
      {hint !== undefined && <small>{hint}</small>}
      {keys !== undefined && <small className={css.keys}>{keys}</small>}
    </BaseMenu.Item>
  );
}

export function MenuSeparator() {
  return <BaseMenu.Separator className={css.separator} />;
}
