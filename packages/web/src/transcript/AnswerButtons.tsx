import type { ApprovalOption, ApprovalUpsert } from '@liminal/protocol';
import { type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { Button, Kbd } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import css from './ApprovalActions.module.css';
import { asksSomething, isAllowing, keyAnswers, sortOptions } from './answering.ts';
import { labelOf } from '../words/label.ts';
import type { ReadProgress } from '../session/use-read-progress.ts';

interface AnswerButtonsProps {
  approval: ApprovalUpsert;
  progress: ReadProgress;
  sent: boolean;
  note: string;
  choose: (optionId: string) => void;
  chooseWithNote: (optionId: string) => void;
}

/**
 * Shows a button for each answer. A button that allows can be pressed only after the whole request has been shown; a
 * button that rejects can be pressed at once.
 */
export function AnswerButtons(props: AnswerButtonsProps) {
  const { approval, progress, sent, note, choose, chooseWithNote } = props;
  const { allow, deny } = keyAnswers(approval);
  const options = sortOptions(approval.options);
  // A button that allows and sends a note appears only when a note is written, because several options can be sent with
  // a note.
  const notable = options.filter(
    (option) =>
      option.takesNote === true && (note !== '' || !isAllowing(approval, option.optionId)),
  );
  const hintId = useId();
  const answering = ({ optionId }: ApprovalOption) => {
    const isAllowed = isAllowing(approval, optionId);
    const waits = !progress.isFullyShown && isAllowed;
    return {
      'aria-disabled': sent || waits || (!progress.isSettled && isAllowed),
      'aria-describedby': waits ? hintId : undefined,
    };
  };

  return (
    <div className={css.buttons}>
      {!progress.isFullyShown && (
        <ShowRest approval={approval} progress={progress} hintId={hintId} />
      )}
      {options.map((option) => (
        <Button
          key={option.optionId}
          type={option === allow ? 'submit' : 'button'}
          look={option === allow ? 'primary' : 'plain'}
          data-long={option.name.length > longName}
          {...answering(option)}
          onClick={(event) => {
            if (option !== allow && !event.defaultPrevented) choose(option.optionId);
          }}
        >
          <ShownText text={option.name} />
          {option === allow && <Kbd>⏎</Kbd>}
          {option === deny && <Kbd>esc</Kbd>}
        </Button>
      ))}
      <Notable options={notable} note={note} answering={answering} choose={chooseWithNote} />
      {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
    </div>
  );
}

/** An answer whose name has more characters than this may take several lines. */
const longName = 24;

interface NotableProps {
  options: readonly ApprovalOption[];
  note: string;
  answering: (option: ApprovalOption) => object;
  choose: (optionId: string) => void;
}

/** Shows the answers that can be sent with a note from the composer, in the same row as the other answers. */
function Notable({ options, note, answering, choose }: NotableProps) {
  if (options.length === 0) return null;
  const hasNote = note !== '';
  return (
    <span className={css.withNote}>
      {hasNote && <span aria-hidden="true">With this note:</span>}
      {options.map((option) => (
        <Button
          key={option.optionId}
          look={hasNote ? 'plain' : 'quiet'}
          {...answering(option)}
          aria-label={`${labelOf(option.name)} with ${hasNote ? 'this' : 'a'} note`}
          title={hasNote ? undefined : 'Type your note below'}
          onClick={(event) => {
            if (!event.defaultPrevented) choose(option.optionId);
          }}
        >
          <ShownText text={option.name} />
          {!hasNote && ' with a note'}
        </Button>
      ))}
    </span>
  );
}

interface ShowRestProps {
  approval: ApprovalUpsert;
  progress: ReadProgress;
  hintId: string;
}

/** Shows why nothing can be allowed yet, and what the person can do. */
function ShowRest({ approval, progress, hintId }: ShowRestProps) {
  const button = useRef<HTMLButtonElement>(null);
  useFocusLeftTo(progress.scroller, button);
  return (
    <p className={css.rest}>
      <span id={hintId}>Read all of it to {asksSomething(approval) ? 'answer' : 'allow'}.</span>
      <Button ref={button} onClick={progress.showRest}>
        {progress.isOpen ? 'Show more' : 'Show all'}
      </Button>
    </p>
  );
}

/** Moves the focus when a focused control disappears: to the content that the control has shown. */
function useFocusLeftTo(
  shown: RefObject<HTMLElement | null>,
  control: RefObject<HTMLElement | null>,
): void {
  useLayoutEffect(() => {
    const held = control.current;
    const { current: next } = shown;
    return () => {
      if (held === document.activeElement) next?.focus();
    };
  }, [shown, control]);
}

function Deadline({ at }: { at: string }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return null;
  const text = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return <span className={css.deadline}>until {text}</span>;
}
