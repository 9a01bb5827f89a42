import { Menu } from '@base-ui/react/menu';
import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import { Check, ChevronDown } from 'lucide-react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useMenuLayer } from '../app/history.ts';
import { useNavigation } from '../app/navigation.tsx';
import controls from '../look/controls.module.css';
import spoken from '../look/spoken.module.css';
import menu from '../look/menu.module.css';
import css from './TabsMenu.module.css';
import { SessionMark } from '../app/SessionMark.tsx';

interface TabsMenuProps {
  /** `switcher` shows the active session's name, and is used where no tabs are shown. */
  look: 'icon' | 'switcher';
}

/** A menu that lists all open sessions. */
export default function TabsMenu({ look }: TabsMenuProps) {
  const { tabs, active, close, closeOthers } = useNavigation();
  const { projects } = useSessions();
  const layer = useMenuLayer();
  const label = `All tabs (${tabs.length})`;
  const shown = active === undefined ? undefined : findSession(projects, active);
  return (
    <Menu.Root {...layer}>
      {look === 'icon' ? (
        <Menu.Trigger className={controls.icon} aria-label={label} title={label}>
          <ChevronDown size={16} aria-hidden="true" />
        </Menu.Trigger>
      ) : (
        <Menu.Trigger className={css.switcher}>
          {shown !== undefined && <SessionMark session={shown} />}
          <bdi className={css.title}>{shown?.title ?? 'Open sessions'}</bdi>
          {/* If there is only one tab, the count is hidden, so that the title has more room. */}
          <span className={tabs.length > 1 ? css.count : spoken.only}>
            {tabs.length}
            <span className={spoken.only}>{tabs.length === 1 ? ' tab' : ' tabs'}</span>
          </span>
          <ChevronDown size={14} aria-hidden="true" />
        </Menu.Trigger>
      )}
      <Menu.Portal>
        <Menu.Positioner className={menu.positioner} align="end" sideOffset={6}>
          <Menu.Popup className={`${menu.popup} ${css.popup}`}>
            {tabs.map((sessionId) => (
              <TabItem key={sessionId} sessionId={sessionId} />
            ))}
            <Menu.Separator className={menu.separator} />
            {active !== undefined && (
              <Menu.Item className={menu.item} onClick={() => close(active)}>
                Close this tab
              </Menu.Item>
            )}
            {active !== undefined && tabs.length > 1 && (
              <Menu.Item className={menu.item} onClick={() => closeOthers(active)}>
                Close all others
              </Menu.Item>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function TabItem({ sessionId }: { sessionId: string }) {
  const { active, show } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  return (
    <Menu.Item
      className={menu.item}
      label={session?.title ?? 'Session'}
      aria-current={sessionId === active ? 'page' : undefined}
      onClick={() => show(sessionId)}
    >
      {session !== undefined && <SessionMark session={session} />}
      <bdi className={css.title}>{session?.title ?? 'Session'}</bdi>
      {sessionId === active && <Check size={14} aria-hidden="true" />}
      {session !== undefined && <AgentMark cliType={session.cliType} />}
    </Menu.Item>
  );
}
