import { Command, Menu, Plus } from 'lucide-react';
import { altKey, commandKey } from '../app/keys.ts';
import { useNavigation } from '../app/navigation.tsx';
import { useIsNarrow } from '../app/use-sidebar.ts';
import { IconButton } from '../look/controls.tsx';
import { lazyComponent } from '../look/lazy-component.tsx';
import { NeedsYou, useOthersWaiting } from './NeedsYou.tsx';
import css from './TabBar.module.css';
import { TabList } from './TabList.tsx';

interface TabBarProps {
  onNew: () => void;
  onPalette: () => void;
  onSidebar: () => void;
}

// The code of the menu is fetched with the first session, together with the menu library.
const SessionMenu = lazyComponent(
  () => import('./SessionMenu.tsx'),
  () => <span className={css.menuSpace} />,
);
const TabsMenu = lazyComponent(
  () => import('./TabsMenu.tsx'),
  () => <span className={css.tabs} />,
);

/**
 * Shows the tabs of open sessions. On a narrow page, shows the active session and a menu of the other open sessions.
 */
export function TabBar({ onNew, onPalette, onSidebar }: TabBarProps) {
  const { tabs, active } = useNavigation();
  const isNarrow = useIsNarrow();
  return (
    <header className={css.bar}>
      <SidebarButton onClick={onSidebar} />
      {!isNarrow && <TabList />}
      {isNarrow && tabs.length === 0 && <span className={css.tabs} />}
      {isNarrow && tabs.length > 0 && <TabsMenu look="switcher" />}
      <NeedsYou isShort={isNarrow} />
      <IconButton label={`New session (${altKey('N')})`} onClick={onNew}>
        <Plus size={16} />
      </IconButton>
      <IconButton label={`Commands (${commandKey('K')})`} onClick={onPalette}>
        <Command size={15} />
      </IconButton>
      {active !== undefined && <SessionMenu sessionId={active} />}
    </header>
  );
}

/** The button that shows the sidebar, with the number of sessions that wait for a person. */
function SidebarButton({ onClick }: { onClick: () => void }) {
  const { length: waiting } = useOthersWaiting();
  const label =
    waiting === 0 ? 'Sessions' : `Sessions, ${waiting} need${waiting > 1 ? '' : 's'} you`;
  return (
    <IconButton className={css.sidebarButton} label={label} onClick={onClick}>
      <Menu size={17} aria-hidden="true" />
      {waiting > 0 && (
        <span className={css.badge} aria-hidden="true">
          {waiting > 9 ? '9+' : waiting}
        </span>
      )}
    </IconButton>
  );
}
