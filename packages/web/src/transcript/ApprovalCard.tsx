import type { ApprovalUpsert } from '@liminal/protocol';
import { MessageCircleQuestionMark, ShieldQuestionMark } from 'lucide-react';
import { ApprovalFold } from '../approval-parts/ApprovalParts.tsx';
import { FilledForm } from '../forms/FilledForm.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { WaitingLink } from './ApprovalActions.tsx';
import actions from './ApprovalActions.module.css';
import { asksSomething, decisionWords, wasAllowed } from './answering.ts';
import { isWaiting } from './arrange.ts';
import css from './ToolCard.module.css';
import { labelOf } from '../words/label.ts';

interface ApprovalCardProps {
  item: ApprovalUpsert;
  turnEnded: boolean;
}

/** The length of the longest title that fits into a line, in characters. */
const oneLine = 60;

/** Shows a permission request, or a question, that belongs to no tool call in the conversation. */
export function ApprovalCard({ item, turnEnded }: ApprovalCardProps) {
  const { title, outcome, form } = item;
  const waits = isWaiting(item) && !turnEnded;
  const asks = asksSomething(item);
  const isAnswer = asks && wasAllowed(item);
  const isLong = asks || title.length > oneLine || title.includes('\n');
  const Icon = asks ? MessageCircleQuestionMark : ShieldQuestionMark;
  const short = asks ? 'Question' : 'Permission';
  return (
    <div
      className={css.card}
      role="group"
      aria-label={labelOf(title)}
      data-item-id={item.itemId}
      data-status={item.status}
      data-phase={waits ? 'waiting' : 'done'}
    >
      <div className={css.head}>
        <Icon size={15} aria-hidden="true" />
        <span className={css.verb}>{isLong ? short : <ShownText text={title} />}</span>
        {waits ? (
          <WaitingLink approval={item} />
        ) : (
          <span className={css.subject}>
            <ShownText text={isAnswer ? 'answered' : decisionWords(item)} />
          </span>
        )}
      </div>
      {!waits && isLong && <LinkedText className={actions.title} text={title} />}
      {!waits && item.asked !== undefined && !asks && <ApprovalFold approval={item} />}
      {!waits && outcome?.outcome === 'selected' && outcome.note !== undefined && (
        <p className={actions.note}>“{outcome.note}”</p>
      )}
      {!waits && outcome?.outcome === 'selected' && outcome.content !== undefined && (
        <FilledForm form={form} content={outcome.content} />
      )}
    </div>
  );
}
