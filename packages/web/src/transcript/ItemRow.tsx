import type { UpsertObject } from '@liminal/protocol';
import { ApprovalCard } from './ApprovalCard.tsx';
import { AgentMessage } from './AgentMessage.tsx';
import { ModelNote } from './ModelNote.tsx';
import { FileChanges } from './FileChanges.tsx';
import { isForModel } from './model-text.ts';
import { ErrorNote } from './Notes.tsx';
import { PlanCard } from './PlanCard.tsx';
import { Thinking } from './Thinking.tsx';
import { UserMessage } from './UserMessage.tsx';

interface ItemRowProps {
  item: Exclude<UpsertObject, { type: 'tool_call' }>;
  /** The project's folder. */
  folder: string | undefined;
  turnEnded: boolean;
  turnError: string | undefined;
}

export function ItemRow({ item, folder, turnEnded, turnError }: ItemRowProps) {
  switch (item.type) {
    case 'message':
      if (item.origin === 'user' && isForModel(item.content)) {
        return <ModelNote title="You stopped the agent here" text={item.content} />;
      }
      if (item.origin === 'user' && item.parentCallId === undefined)
        return <UserMessage item={item} />;
      return <AgentMessage item={item} turnEnded={turnEnded} turnError={turnError} />;
    case 'thinking':
      return <Thinking item={item} turnEnded={turnEnded} />;
    case 'plan':
      return <PlanCard item={item} />;
    case 'file_changes':
      return <FileChanges item={item} folder={folder} />;
    case 'approval':
      return <ApprovalCard item={item} turnEnded={turnEnded} />;
    case 'error':
      if (item.errorMessage !== undefined && item.errorMessage === turnError) return null;
      return (
        <ErrorNote
          itemId={item.itemId}
          code={item.errorCode}
          message={item.errorMessage}
          isNew={!turnEnded}
        />
      );
  }
}
