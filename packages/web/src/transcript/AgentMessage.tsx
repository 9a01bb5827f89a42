import type { UpsertObject } from '@liminal/protocol';
import { Markdown } from '../markdown/Markdown.tsx';
import css from './AgentMessage.module.css';
import { Attachments } from './Attachments.tsx';
import { ErrorNote } from './Notes.tsx';

interface AgentMessageProps {
  item: Extract<UpsertObject, { type: 'message' }>;
  turnEnded: boolean;
  turnError: string | undefined;
}

/** Shows an agent's message. Messages of the system look different from messages of the agent. */
export function AgentMessage({ item, turnEnded, turnError }: AgentMessageProps) {
  const streaming = !turnEnded && (item.status === 'create' || item.status === 'update');
  return (
    <div
      className={css.message}
      role="article"
      aria-label={names[item.origin]}
      data-item-id={item.itemId}
      data-status={item.status}
      data-origin={item.origin}
    >
      <Markdown streaming={streaming}>{item.content}</Markdown>
      <Attachments blocks={item.blocks} />
      {item.status === 'error' && item.errorMessage !== turnError && (
        <ErrorNote code={item.errorCode} message={item.errorMessage} isNew={!turnEnded} />
      )}
    </div>
  );
}

const names = { user: 'Prompt', agent: 'Agent', system: 'System' };
