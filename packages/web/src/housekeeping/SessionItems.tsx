import type { SessionSummary } from '@liminal/protocol';
import {
  Archive,
  ArchiveRestore,
  FileDiff,
  FolderPlus,
  ListChecks,
  Pin,
  PinOff,
  Plug,
  ShieldCheck,
  Trash2,
} from 'lucide-react';
import { useAgent } from '../app/agents.tsx';
import { MenuItem, MenuSeparator } from '../look/Menu.tsx';
import { useHousekeeping } from './housekeeping.tsx';

/** The menu entries of a session: pin, archive, and the entries that open the session's dialogs. */
export function SessionItems({ session }: { session: SessionSummary }) {
  const housekeeping = useHousekeeping();
  const agent = useAgent(session.cliType);
  return (
    <>
      {session.pinned === true ? (
        <MenuItem icon={<PinOff size={14} />} onClick={() => housekeeping.unpin(session)}>
          Unpin
        </MenuItem>
      ) : (
        <MenuItem icon={<Pin size={14} />} onClick={() => housekeeping.pin(session)}>
          Pin
        </MenuItem>
      )}
      {session.archived === true ? (
        <MenuItem
          icon={<ArchiveRestore size={14} />}
          onClick={() => housekeeping.unarchive(session)}
        >
          Unarchive
        </MenuItem>
      ) : (
        <MenuItem icon={<Archive size={14} />} onClick={() => housekeeping.archive(session)}>
          Archive
        </MenuItem>
      )}
      {session.importedFrom === undefined && (
        <MenuItem icon={<FileDiff size={14} />} onClick={() => housekeeping.showChanges(session)}>
          Changes…
        </MenuItem>
      )}
      {agent?.usesGrants === true && (
        <MenuItem icon={<ShieldCheck size={14} />} onClick={() => housekeeping.showGrants(session)}>
          Always allowed…
        </MenuItem>
      )}
      {agent?.tellsSetup === true && session.importedFrom === undefined && (
        <MenuItem icon={<ListChecks size={14} />} onClick={() => housekeeping.showSetup(session)}>
          Status and setup…
        </MenuItem>
      )}
      {agent?.takesDirectories === true && session.importedFrom === undefined && (
        <MenuItem
          icon={<FolderPlus size={14} />}
          onClick={() => housekeeping.showDirectories(session)}
        >
          Folders…
        </MenuItem>
      )}
      {agent?.managesMcp === true && session.importedFrom === undefined && (
        <MenuItem icon={<Plug size={14} />} onClick={() => housekeeping.showMcp(session)}>
          MCP servers…
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={<Trash2 size={14} />} onClick={() => housekeeping.delete(session)}>
        Delete…
      </MenuItem>
    </>
  );
}
