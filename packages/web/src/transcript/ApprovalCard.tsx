import type { ApprovalUpsert } from '@liminal/protocol';
import { MessageCircleQuestionMark, ShieldQuestionMark } from 'lucide-react';
import { FilledForm } from '../forms/FilledForm.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import { ApprovalActions } from './ApprovalActions.tsx';
import actions from './ApprovalActions.module.css';
import { asksSomething, outcomeWords, wasAllowed } from './answering.ts';
import { isWaiting } from './arrange.ts';
import css from './ToolCard.module.css';

interface ApprovalCardProps {
  item: ApprovalUpsert;
  turnEnded: boolean;
}

/** Titles longer than this (characters) do not fit into a line. */
const oneLine = 60;

/** A permission request, or a question, that belongs to no tool call shown here. */
export function ApprovalCard({ item, turnEnded }: ApprovalCardProps) {
  const { title, outcome, form } = item;
  const waits = isWaiting(item) && !turnEnded;
  const asks = asksSomething(item);
  const isAnswer = asks && wasAllowed(item);
  const isLong = asks || title.length > oneLine || title.includes('\n');
  const Icon = asks ? MessageCircleQuestionMark : ShieldQuestionMark;
  const short = asks ? 'Question' : 'Permission';
  const wants = asks ? 'asks you' : 'wants permission';
  return (
    <div
      className={css.card}
      role="group"
      aria-label={title}
      data-item-id={item.itemId}
      data-status={item.status}
      data-phase={waits ? 'waiting' : 'done'}
    >
      <div className={css.head}>
        <Icon size={15} aria-hidden="true" />
        <span className={css.verb}>{isLong ? short : title}</span>
        <span className={css.subject}>
          {waits ? wants : isAnswer ? 'answered' : outcomeWords(item)}
        </span>
      </div>
      {waits && <ApprovalActions approval={item} question={isLong ? title : undefined} />}
      {!waits && isLong && <LinkedText className={actions.asked} text={title} />}
      {!waits && outcome?.outcome === 'selected' && outcome.content !== undefined && (
        <FilledForm form={form} content={outcome.content} />
      )}
    </div>
  );
}
