import { Menu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import menu from './menu.module.css';

interface MenuItemProps {
  icon: ReactNode;
  children: ReactNode;
  onClick: () => void;
  disabled?: boolean;
  hint?: string | undefined;
  /** The entry's keyboard shortcut; hidden on a touch screen. */
  keys?: string | undefined;
}

/** A menu entry with an icon, and a hint at the right. */
export function MenuItem({ icon, children, hint, keys, ...rest }: MenuItemProps) {
  return (
    <Menu.Item className={menu.item} {...rest}>
      {icon}
      <span>{children}</span>
      {hint !== undefined && <small>{hint}</small>}
      {keys !== undefined && <small className={menu.keys}>{keys}</small>}
    </Menu.Item>
  );
}
