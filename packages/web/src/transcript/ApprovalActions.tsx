import { describeError } from '@liminal/client';
import type { ApprovalAnswer, ApprovalUpsert, FormContent } from '@liminal/protocol';
import { type KeyboardEvent, type MouseEvent, useRef, useState } from 'react';
import type { ApprovalPart } from '../approval-parts/approval-parts.ts';
import { AgentText, ApprovalFold, ApprovalParts } from '../approval-parts/ApprovalParts.tsx';
import { focusComposer, giveFocusBack, useGiveFocusBack } from '../composer/focus-composer.ts';
import { Pencil } from 'lucide-react';
import { FilledForm } from '../forms/FilledForm.tsx';
import { FormFields } from '../forms/FormFields.tsx';
import { useAnswers } from '../forms/use-answers.ts';
import { Button } from '../look/controls.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import { ShownText } from '../look/ShownText.tsx';
import type { ReadProgress } from '../session/use-read-progress.ts';
import { AnswerButtons } from './AnswerButtons.tsx';
import css from './ApprovalActions.module.css';
import { asksSomething, decisionWords, isAllowing, keyAnswers, wasAllowed } from './answering.ts';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';

interface ApprovalProps {
  approval: ApprovalUpsert;
}

interface ApprovalActionsProps extends ApprovalProps {
  /** The whole request. It scrolls if it is long. */
  parts: readonly ApprovalPart[];
  folder: string | undefined;
  /**
   * Returns whether the request has been visible long enough to be read. Before that, keys do not answer the request.
   */
  isSeen: () => boolean;
  /** Whether an answer that a key gave is being sent. */
  isSent: boolean;
  /** Whether the whole request has been shown. Only then can the request be allowed. */
  progress: ReadProgress;
  /** The composer's draft. The draft can be sent as a note with the answer. */
  draft: string;
  /** Called when the draft was sent with the answer. */
  onNoted: () => void;
  /** Called when the request was answered on this page. */
  onAnswered: () => void;
}

/** Shows the possible answers to a permission request, and the request's form, if there is one. */
export function ApprovalActions(props: ApprovalActionsProps) {
  const { approval, parts, folder, isSeen, isSent, progress, draft, onNoted, onAnswered } = props;
  const { scroller, isOpen, isFullyShown, isSettled } = progress;
  const form = useAnswers(approval.form);
  const asks = form.fields.length > 0;
  const { sent, problem, send } = useSending(approval.approvalId, onAnswered);
  const element = useRef<HTMLFormElement>(null);
  useGiveFocusBack(element);
  const { allow } = keyAnswers(approval);
  const note = draft.trim();
  const plan = useChangedPlan(approval, parts);

  const mustWait = (optionId: string) =>
    !(isFullyShown && isSettled) && isAllowing(approval, optionId);
  const choose = (optionId: string) => {
    if (!asks || !isAllowing(approval, optionId)) {
      return mustWait(optionId) ? undefined : send({ optionId, ...plan.changeFor(optionId) });
    }
    const checked = form.check();
    if (!('content' in checked)) return focusField(element.current, checked.firstProblem);
    return mustWait(optionId) ? undefined : send({ optionId, content: checked.content });
  };
  const chooseWithNote = (optionId: string) => {
    if (mustWait(optionId)) return;
    if (note === '') focusComposer();
    else send({ optionId, note, ...plan.changeFor(optionId) }, onNoted);
  };

  return (
    // Keys bubble up from the form's fields.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      ref={element}
      className={css.actions}
      data-approval-id={approval.approvalId}
      noValidate
      onKeyDown={leaveField}
      onClickCapture={(event) => {
        if (isHasty(event, isSeen)) event.preventDefault();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (allow !== undefined) choose(allow.optionId);
      }}
    >
      <div
        ref={scroller}
        className={css.asked}
        data-open={isOpen}
        role="region"
        aria-label="What is asked"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        <ApprovalParts
          parts={parts}
          folder={folder}
          form={
            <>
              <FormHead approval={approval} />
              {asks && (
                <div className={css.form}>
                  <FormFields form={form} />
                </div>
              )}
            </>
          }
        />
      </div>
      {plan.text !== undefined && <PlanEditor text={plan.text} onChange={plan.change} />}
      <AnswerButtons
        approval={approval}
        progress={progress}
        sent={sent || isSent}
        note={note}
        choose={choose}
        chooseWithNote={chooseWithNote}
      />
      {problem !== undefined && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

/** Returns a plan that the person may change before approving it. */
function useChangedPlan(approval: ApprovalUpsert, parts: readonly ApprovalPart[]) {
  const [text, change] = useState<string>();
  const shown = parts.find((part) => part.kind === 'plan')?.content;
  const original = approval.editable?.includes('plan') === true ? shown : undefined;
  const changeFor = (optionId: string): Pick<ApprovalAnswer, 'content'> =>
    text === undefined || text === original || !isAllowing(approval, optionId)
      ? {}
      : { content: { plan: text } };
  return { text: original && (text ?? original), change, changeFor };
}

function PlanEditor({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) {
    return (
      <Button look="quiet" className={css.edit} onClick={() => setOpen(true)}>
        <Pencil size={13} aria-hidden="true" /> Edit the plan
      </Button>
    );
  }
  return (
    <textarea
      className={css.plan}
      aria-label="The plan as you approve it"
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for
      autoFocus
      rows={10}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/**
 * Whether a press was meant for the previous content: the second click of a double click, or Enter on a button before
 * the person had time to read.
 */
function isHasty({ detail, target }: MouseEvent, isSeen: () => boolean): boolean {
  const button = target instanceof Element ? target.closest('button') : null;
  if (button === null) return false;
  // Enter in a field also presses the button. In that case the focus is in the form, which the person has read.
  const isKey = detail === 0 && button === document.activeElement;
  return detail > 1 || (isKey && !isSeen());
}

/** Returns a function that sends an answer only once. If sending fails, an error is shown until the next attempt. */
function useSending(approvalId: string, onAnswered: () => void) {
  const { answer } = useSessionActions();
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string>();
  const attempt = async (given: ApprovalAnswer, onTaken?: () => void) => {
    setSent(true);
    setProblem(undefined);
    try {
      onAnswered();
      await answer(approvalId, given);
      onTaken?.();
      if (given.content !== undefined) giveFocusBack();
    } catch (error) {
      setProblem(describeError(error).message);
      setSent(false);
    }
  };
  const send = (given: ApprovalAnswer, onTaken?: () => void): void => {
    if (!sent) void attempt(given, onTaken);
  };
  return { sent, problem, send };
}

/**
 * Moves the focus from a field to the whole request when Escape is pressed, so that no input is lost. Only the next
 * Escape answers the request.
 */
function leaveField(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key !== 'Escape' || !(target instanceof HTMLElement)) return;
  if (!target.matches('input, select, textarea')) return;
  event.stopPropagation();
  target.closest<HTMLElement>('[role="group"][tabindex]')?.focus({ preventScroll: true });
}

function focusField(form: HTMLFormElement | null, name: string | undefined): void {
  if (name === undefined) return;
  const field = form?.querySelector(`[data-field="${CSS.escape(name)}"]`);
  field?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}

/** Shows the form's title and description. */
function FormHead({ approval: { form, title } }: ApprovalProps) {
  if (form === undefined) return null;
  return (
    <>
      {form.title && form.title !== title && (
        <p className={css.heading}>
          <ShownText text={form.title} />
        </p>
      )}
      {form.description && <LinkedText className={css.about} text={form.description} />}
    </>
  );
}

/** Shows at which position of the conversation a request waits. The person answers the request above the composer. */
export function WaitingLink({ approval }: ApprovalProps) {
  const { show } = useSessionActions();
  const isReadOnly = useReadOnly();
  if (isReadOnly) return <span className={css.waiting}>Waiting for an answer</span>;
  return (
    <a
      className={css.waiting}
      href={`#${dockId}`}
      onClick={(event) => {
        event.preventDefault();
        show(approval.approvalId);
      }}
    >
      Waiting for you <span aria-hidden="true">↓</span>
    </a>
  );
}

/** Shows the texts of a request that the person has changed. */
function ChangedTexts({ content }: { content: FormContent }) {
  return Object.entries(content).map(([name, value]) => (
    <details key={name} className={css.changed}>
      <summary>With your changes to the {name}</summary>
      <AgentText text={String(value)} label={`Changed ${name}`} />
    </details>
  ));
}

/** The id of the element that contains the request that waits for an answer. */
export const dockId = 'request-dock';

/** Shows how a permission request was answered. */
export function ApprovalOutcomeNote({ approval }: ApprovalProps) {
  const { outcome, form } = approval;
  const { content, note } = outcome?.outcome === 'selected' ? outcome : {};
  return (
    <>
      <p className={css.note} data-allowed={wasAllowed(approval)}>
        {asksSomething(approval) && <ShownText text={approval.title} />}
        {asksSomething(approval) && content === undefined && ': '}
        {(content === undefined || approval.editable !== undefined) && (
          <ShownText text={decisionWords(approval)} />
        )}
        {note !== undefined && <span className={css.given}>. “{note}”</span>}
      </p>
      {content !== undefined && approval.editable === undefined && (
        <FilledForm form={form} content={content} />
      )}
      {content !== undefined && approval.editable !== undefined && (
        <ChangedTexts content={content} />
      )}
      {approval.earlier !== undefined && <ApprovalFold approval={approval} />}
    </>
  );
}
