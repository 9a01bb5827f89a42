import { GitFork } from 'lucide-react';
import { useState } from 'react';
import { useAgent } from '../app/agents.tsx';
import { Button, IconButton } from '../look/controls.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';

interface ForkHereProps {
  turnId: string;
  /** Whether no turn follows. */
  isLast: boolean;
  /** The class of the icon; undefined for a button with text. */
  iconClass?: string | undefined;
}

/** A button that forks the session after a turn. Renders nothing if the agent cannot fork after this turn. */
export function ForkHere({ turnId, isLast, iconClass }: ForkHereProps) {
  const { cliType, fork } = useSessionActions();
  const agent = useAgent(cliType);
  const isReadOnly = useReadOnly();
  const [isForking, setForking] = useState(false);
  if (isReadOnly || agent?.forks !== true || (agent.forksWhole === true && !isLast)) return null;
  const label = 'Fork from here';
  const onClick = () => {
    if (isForking) return;
    setForking(true);
    void fork(turnId).finally(() => setForking(false));
  };
  if (iconClass === undefined) return <Button onClick={onClick}>{label}</Button>;
  return (
    <IconButton className={iconClass} label={label} aria-busy={isForking} onClick={onClick}>
      <GitFork size={13} />
    </IconButton>
  );
}
