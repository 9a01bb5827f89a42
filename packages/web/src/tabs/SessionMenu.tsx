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
import { altKey, commandKey } from '../app/keys.ts';
import { openFind } from '../session/FindBar.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { useFork } from '../app/use-fork.ts';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { saveExport } from '../housekeeping/save-export.ts';
import { SessionItems } from '../housekeeping/SessionItems.tsx';
import { IconTrigger, Menu, MenuItem, MenuSeparator } from '../look/Menu.tsx';
import { writeClipboard } from '../look/use-copy.ts';
import css from './SessionMenu.module.css';

/** A menu with the actions on the active session. */
export default function SessionMenu({ sessionId }: { sessionId: string }) {
  const { requests } = useClient();
  const { preview, keep, close } = useNavigation();
  const session = findSession(useSessions().projects, sessionId);
  const agent = useAgent(session?.cliType);
  const fork = useFork();
  const { showRename } = useHousekeeping();
  const [problem, setProblem] = useState<string>();

  const attempt = (doing: Promise<void>) => {
    setProblem(undefined);
    doing.catch((error: unknown) => setProblem(describeError(error).message));
  };

  return (
    <>
      <Menu
        trigger={
          <IconTrigger label="Session">
            <Ellipsis size={16} />
          </IconTrigger>
        }
      >
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
        <MenuSeparator />
        <MenuItem
          icon={<PowerOff size={14} />}
          disabled={session?.isAlive === false}
          onClick={() => attempt(requests.kill(sessionId))}
          hint={session?.isAlive === false ? 'not running' : undefined}
        >
          Stop the agent process
        </MenuItem>
        <MenuSeparator />
        {session !== undefined && <SessionItems session={session} />}
      </Menu>
      {problem !== undefined && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
