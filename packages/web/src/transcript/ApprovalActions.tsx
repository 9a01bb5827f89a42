import { describeError } from '@liminal/client';
import type { ApprovalUpsert } from '@liminal/protocol';
import { useState } from 'react';
import { Button, Kbd } from '../look/controls.tsx';
import css from './ApprovalActions.module.css';
import { useSessionActions } from './session-actions.ts';
import { keyAnswers, outcomeWords, sortOptions, wasAllowed } from './answering.ts';

interface ApprovalProps {
  approval: ApprovalUpsert;
}

interface ApprovalActionsProps extends ApprovalProps {
  /** Shown above the answers, where the card does not say it all. */
  question?: string | undefined;
}

/** The answers that can be given to a permission request. */
export function ApprovalActions({ approval, question }: ApprovalActionsProps) {
  const { answer } = useSessionActions();
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { allow, deny } = keyAnswers(approval);

  const choose = async (optionId: string) => {
    setSent(true);
    setProblem(undefined);
    try {
      await answer(approval.approvalId, optionId);
    } catch (error) {
      setProblem(describeError(error).message);
      setSent(false);
    }
  };

  return (
    <div
      className={css.actions}
      role="group"
      aria-label={`Permission: ${approval.title}`}
      data-item-id={approval.itemId}
      data-status={approval.status}
    >
      <p className={css.announced} role="status">
        Permission wanted: {approval.title}
      </p>
      {question !== undefined && <p className={css.question}>{question}</p>}
      {sortOptions(approval.options).map((option) => (
        <Button
          key={option.optionId}
          look={option === allow ? 'primary' : 'plain'}
          disabled={sent}
          onClick={() => void choose(option.optionId)}
        >
          {option.name}
          {option === allow && <Kbd>⏎</Kbd>}
          {option === deny && <Kbd>esc</Kbd>}
        </Button>
      ))}
      {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
      {problem !== undefined && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Deadline({ at }: { at: string }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return null;
  const text = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return <span className={css.deadline}>until {text}</span>;
}

/** How a permission request was answered. */
export function ApprovalOutcomeNote({ approval }: ApprovalProps) {
  return (
    <p className={css.note} data-allowed={wasAllowed(approval)}>
      Permission: {outcomeWords(approval)}
    </p>
  );
}
