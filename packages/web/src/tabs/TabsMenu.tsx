import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import { Check, ChevronDown } from 'lucide-react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useNavigation } from '../app/navigation.tsx';
import spoken from '../look/spoken.module.css';
import { IconTrigger, Menu, MenuItem, MenuSeparator, MenuTrigger } from '../look/Menu.tsx';
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
  const label = `All tabs (${tabs.length})`;
  const shown = active === undefined ? undefined : findSession(projects, active);
  const trigger =
    look === 'icon' ? (
      <IconTrigger label={label}>
        <ChevronDown size={16} aria-hidden="true" />
      </IconTrigger>
    ) : (
      <MenuTrigger className={css.switcher}>
        {shown !== undefined && <SessionMark session={shown} />}
        <bdi className={css.title}>{shown?.title ?? 'Open sessions'}</bdi>
        {/* A single tab leaves this room to its title. */}
        <span className={tabs.length > 1 ? css.count : spoken.only}>
          {tabs.length}
          <span className={spoken.only}>{tabs.length === 1 ? ' tab' : ' tabs'}</span>
        </span>
        <ChevronDown size={14} aria-hidden="true" />
      </MenuTrigger>
    );
  return (
    <Menu trigger={trigger} className={css.popup}>
      {tabs.map((sessionId) => (
        <TabItem key={sessionId} sessionId={sessionId} />
      ))}
      <MenuSeparator />
      {active !== undefined && <MenuItem onClick={() => close(active)}>Close this tab</MenuItem>}
      {active !== undefined && tabs.length > 1 && (
        <MenuItem onClick={() => closeOthers(active)}>Close all others</MenuItem>
      )}
    </Menu>
  );
}

function TabItem({ sessionId }: { sessionId: string }) {
  const { active, show } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  return (
    <MenuItem
      label={session?.title ?? 'Session'}
      aria-current={sessionId === active ? 'page' : undefined}
      onClick={() => show(sessionId)}
    >
      {session !== undefined && <SessionMark session={session} />}
      <bdi className={css.title}>{session?.title ?? 'Session'}</bdi>
      {sessionId === active && <Check size={14} aria-hidden="true" />}
      {session !== undefined && <AgentMark cliType={session.cliType} />}
    </MenuItem>
  );
}
