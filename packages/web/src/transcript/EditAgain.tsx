import { Pencil } from 'lucide-react';
import { useAgent } from '../app/agents.tsx';
import { IconButton } from '../look/controls.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';

interface EditAgainProps {
  /** The turn that began with the message. */
  turnId: string;
  iconClass: string | undefined;
}

/**
 * A button that takes the conversation back to the state before a message. The message can then be edited and sent
 * again. Renders nothing if the agent cannot take turns back.
 */
export function EditAgain({ turnId, iconClass }: EditAgainProps) {
  const { cliType, askRewind } = useSessionActions();
  const agent = useAgent(cliType);
  const isReadOnly = useReadOnly();
  if (isReadOnly || agent?.rewindsConversation !== true) return null;
  return (
    <IconButton
      className={iconClass}
      label="Edit and send again"
      onClick={() => askRewind(turnId, 'conversation')}
    >
      <Pencil size={13} />
    </IconButton>
  );
}
