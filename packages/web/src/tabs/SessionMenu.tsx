import { Menu } from '@base-ui/react/menu';
import { describeError, findSession } from '@liminal/client';
import { useClient, useSessions } from '@liminal/client/react';
import {
  Bookmark,
  Copy,
  Download,
  Ellipsis,
  GitFork,
  Pencil,
  PowerOff,
  Search,
  X,
} from 'lucide-react';
import { useState } from 'react';
import { useAgent } from '../app/agents.tsx';
import { useMenuLayer } from '../app/history.ts';
import { altKey, commandKey } from '../app/keys.ts';
import { openFind } from '../session/FindBar.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { useFork } from '../app/use-fork.ts';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { saveExport } from '../housekeeping/save-export.ts';
import { SessionItems } from '../housekeeping/SessionItems.tsx';
import controls from '../look/controls.module.css';
import menu from '../look/menu.module.css';
import { MenuItem } from '../look/MenuItem.tsx';
import { writeClipboard } from '../look/use-copy.ts';
import css from './SessionMenu.module.css';

/** A menu with the actions on the active session. */
export default function SessionMenu({ sessionId }: { sessionId: string }) {
  const { requests } = useClient();
  const { preview, keep, close } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  const agent = useAgent(session?.cliType);
  const fork = useFork();
  const layer = useMenuLayer();
  const { showRename } = useHousekeeping();
  const [problem, setProblem] = useState<string>();

  const attempt = (doing: Promise<void>) => {
    setProblem(undefined);
    doing.catch((error: unknown) => setProblem(describeError(error).message));
  };

  return (
    <>
      <Menu.Root {...layer}>
        <Menu.Trigger className={controls.icon} aria-label="Session" title="Session">
          <Ellipsis size={16} />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className={menu.positioner} align="end" sideOffset={6}>
            <Menu.Popup className={menu.popup}>
              <MenuItem icon={<Search size={14} />} onClick={openFind} keys={commandKey('F')}>
                Find in this session
              </MenuItem>
              {session !== undefined && (
                <MenuItem icon={<Pencil size={14} />} onClick={() => showRename(session)}>
                  Rename
                </MenuItem>
              )}
              {agent?.forks === true && session?.importedFrom === undefined && (
                <MenuItem icon={<GitFork size={14} />} onClick={() => attempt(fork(sessionId))}>
                  Fork
                </MenuItem>
              )}
              <MenuItem icon={<Copy size={14} />} onClick={() => void writeClipboard(sessionId)}>
                Copy session id
              </MenuItem>
              <MenuItem
                icon={<Download size={14} />}
                onClick={() => attempt(saveExport(requests, sessionId))}
              >
                Export
              </MenuItem>
              {preview === sessionId && (
                <MenuItem icon={<Bookmark size={14} />} onClick={() => keep(sessionId)}>
                  Pin tab
                </MenuItem>
              )}
              <MenuItem icon={<X size={14} />} onClick={() => close(sessionId)} keys={altKey('W')}>
                Close tab
              </MenuItem>
              <Menu.Separator className={menu.separator} />
              <MenuItem
                icon={<PowerOff size={14} />}
                disabled={session?.isAlive === false}
                onClick={() => attempt(requests.kill(sessionId))}
                hint={session?.isAlive === false ? 'not running' : undefined}
              >
                Stop the agent process
              </MenuItem>
              <Menu.Separator className={menu.separator} />
              {session !== undefined && <SessionItems session={session} />}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {problem !== undefined && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
