import { describeError } from '@liminal/client';
import type { ApprovalAnswer, ApprovalUpsert } from '@liminal/protocol';
import { type KeyboardEvent, useRef, useState } from 'react';
import { focusComposer } from '../composer/focus-composer.ts';
import { FilledForm } from '../forms/FilledForm.tsx';
import { FormFields } from '../forms/FormFields.tsx';
import { useAnswers } from '../forms/use-answers.ts';
import { Button, Kbd } from '../look/controls.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import css from './ApprovalActions.module.css';
import {
  asksSomething,
  isAllowing,
  keyAnswers,
  outcomeWords,
  sortOptions,
  wasAllowed,
} from './answering.ts';
import { useSessionActions } from './session-actions.ts';

interface ApprovalProps {
  approval: ApprovalUpsert;
}

interface ApprovalActionsProps extends ApprovalProps {
  /** Shown above the answers, where the card does not say it all. */
  question?: string | undefined;
}

/** The answers that can be given to a permission request, and the form that it may want filled in. */
export function ApprovalActions({ approval, question }: ApprovalActionsProps) {
  const form = useAnswers(approval.form);
  const asks = form.fields.length > 0;
  const { sent, problem, send } = useSending(approval.approvalId);
  const element = useRef<HTMLFormElement>(null);
  const { allow, deny } = keyAnswers(approval);

  const choose = (optionId: string) => {
    if (!asks || !isAllowing(approval, optionId)) return send({ optionId });
    const checked = form.check();
    if ('content' in checked) return send({ optionId, content: checked.content });
    return focusField(element.current, checked.firstProblem);
  };
  const title = `${asks ? 'Question' : 'Permission'}: ${approval.title}`;

  return (
    <div
      role="group"
      aria-label={title}
      data-item-id={approval.itemId}
      data-status={approval.status}
    >
      {/* The keys are for its fields, which bring them here. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <form
        ref={element}
        className={css.actions}
        data-approval-id={approval.approvalId}
        noValidate
        onKeyDown={leaveField}
        onSubmit={(event) => {
          event.preventDefault();
          if (allow !== undefined) choose(allow.optionId);
        }}
      >
        <p className={css.announced} role="status">
          {asks ? 'Question' : 'Permission wanted'}: {approval.title}
        </p>
        {question !== undefined && <LinkedText className={css.question} text={question} />}
        <FormHead approval={approval} />
        {asks && <FormFields form={form} />}
        {sortOptions(approval.options).map((option) => (
          <Button
            key={option.optionId}
            type={option === allow ? 'submit' : 'button'}
            look={option === allow ? 'primary' : 'plain'}
            disabled={sent}
            onClick={option === allow ? undefined : () => choose(option.optionId)}
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
      </form>
    </div>
  );
}

/** Sends an answer once; what went wrong shows until the next try. */
function useSending(approvalId: string) {
  const { answer } = useSessionActions();
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string>();
  const attempt = async (given: ApprovalAnswer) => {
    setSent(true);
    setProblem(undefined);
    try {
      await answer(approvalId, given);
      if (given.content !== undefined) focusComposer();
    } catch (error) {
      setProblem(describeError(error).message);
      setSent(false);
    }
  };
  const send = (given: ApprovalAnswer): void => {
    if (!sent) void attempt(given);
  };
  return { sent, problem, send };
}

/** Escape leaves a field, so that nothing filled in is lost by it; once more, and it answers. */
function leaveField(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key !== 'Escape' || !(target instanceof HTMLElement)) return;
  if (!target.matches('input, select, textarea')) return;
  event.stopPropagation();
  target.blur();
}

function focusField(form: HTMLFormElement | null, name: string | undefined): void {
  if (name === undefined) return;
  const field = form?.querySelector(`[data-field="${CSS.escape(name)}"]`);
  field?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}

/** What the form says of itself. */
function FormHead({ approval: { form, title } }: ApprovalProps) {
  if (form === undefined) return null;
  return (
    <>
      {form.title && form.title !== title && <p className={css.heading}>{form.title}</p>}
      {form.description && <LinkedText className={css.about} text={form.description} />}
    </>
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
  const { outcome, form } = approval;
  const content = outcome?.outcome === 'selected' ? outcome.content : undefined;
  return (
    <>
      <p className={css.note} data-allowed={wasAllowed(approval)}>
        {asksSomething(approval) ? approval.title : 'Permission'}
        {content === undefined && `: ${outcomeWords(approval)}`}
      </p>
      {content !== undefined && <FilledForm form={form} content={content} />}
    </>
  );
}
