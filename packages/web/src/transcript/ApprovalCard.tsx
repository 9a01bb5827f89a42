import type { ApprovalUpsert } from '@liminal/protocol';
import { ShieldQuestionMark } from 'lucide-react';
import { ApprovalActions } from './ApprovalActions.tsx';
import { outcomeWords } from './answering.ts';
import { isWaiting } from './arrange.ts';
import css from './ToolCard.module.css';

interface ApprovalCardProps {
  item: ApprovalUpsert;
  turnEnded: boolean;
}

/** A permission request that belongs to no tool call shown here. */
export function ApprovalCard({ item, turnEnded }: ApprovalCardProps) {
  const waits = isWaiting(item) && !turnEnded;
  return (
    <div
      className={css.card}
      role="group"
      aria-label={item.title}
      data-item-id={item.itemId}
      data-status={item.status}
      data-phase={waits ? 'waiting' : 'done'}
    >
      <div className={css.head}>
        <ShieldQuestionMark size={15} aria-hidden="true" />
        <span className={css.verb}>{item.title}</span>
        <span className={css.subject}>{waits ? 'wants permission' : outcomeWords(item)}</span>
      </div>
      {waits && <ApprovalActions approval={item} />}
    </div>
  );
}
