import type { TurnView } from '@liminal/client';
import { Undo2 } from 'lucide-react';
import { useAgent } from '../app/agents.tsx';
import { Button, IconButton } from '../look/controls.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';

interface RewindFilesProps {
  turn: TurnView;
  /** The class of the icon; undefined for a button with text. */
  iconClass?: string | undefined;
}

/**
 * A button that offers to restore files to their state before a turn. Renders nothing if the agent cannot restore
 * files.
 */
export function RewindFiles({ turn, iconClass }: RewindFilesProps) {
  const { cliType, askRewind } = useSessionActions();
  const agent = useAgent(cliType);
  const isReadOnly = useReadOnly();
  const isAsked = turn.items.some((item) => item.type === 'message' && item.origin === 'user');
  if (isReadOnly || agent?.rewinds !== true || !isAsked) return null;
  const label = 'Restore files to before this turn';
  const onClick = () => askRewind(turn.turnId, 'files');
  if (iconClass === undefined) return <Button onClick={onClick}>{label}</Button>;
  return (
    <IconButton className={iconClass} label={label} onClick={onClick}>
      <Undo2 size={13} />
    </IconButton>
  );
}
