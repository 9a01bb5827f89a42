import { headOf } from '@liminal/protocol';
import type { ApprovalUpsert, ToolCallUpsert } from '@liminal/protocol';
import { type ReactNode, useId, useEffect } from 'react';
import { Disclosure } from '../look/Disclosure.tsx';
import { joinClasses } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { ApprovalOutcomeNote, WaitingLink } from './ApprovalActions.tsx';
import { approvalAnswerText } from './answering.ts';
import { isWaiting } from './arrange.ts';
import { openName, useFirst, useRemembered } from './remembered.ts';
import css from './ToolCard.module.css';
import { ToBackground } from './ToBackground.tsx';
import { ToolDetails } from './ToolDetails.tsx';
import { ToolIcon } from './ToolIcon.tsx';
import { ToolOutcome } from './ToolOutcome.tsx';
import { beganAt, neverRan, type ToolPhase, toolPhase } from './tool-outcome.ts';
import { isQuestion, isSubagent, toolWords } from './tool-words.ts';
import { labelOf } from '../words/label.ts';
import { mostInLine } from '../look/text-pieces.ts';

interface ToolCardProps {
  call: ToolCallUpsert;
  approval?: ApprovalUpsert | undefined;
  /** The script that the call runs. */
  script?: ToolCallUpsert | undefined;
  /** Whether the call is a person's own command. Such a call is shown open. */
  isOwn?: boolean | undefined;
  /** A question of the call's script that is not answered yet. */
  waitsFor?: ApprovalUpsert | undefined;
  folder: string | undefined;
  turnEnded: boolean;
  /** A subagent's last message. This message is also among the items below. */
  answerBelow?: string | undefined;
  /** The items of the subagent or script that this call started. */
  children?: ReactNode;
}

/** Shows one tool call: a line with the call's kind, subject and outcome. The line opens to show the details. */
export function ToolCard(props: ToolCardProps) {
  const { call, approval, script, isOwn, waitsFor, answerBelow, folder, turnEnded, children } =
    props;
  const asked = [approval, waitsFor].find((one) => one !== undefined && isWaiting(one));
  const waits = asked !== undefined && !turnEnded;
  const phase = toolPhase(call, waits, turnEnded, approval, script);
  const began = beganAt(call, approval);
  const hasBelow = Boolean(children);
  const [chosen, setChosen] = useRemembered<boolean | undefined>(openName, undefined);
  const wasLive = useFirst('live', !turnEnded);
  // A subagent's row folds when the subagent has finished, because the agent that started it reports the result.
  const isAtWork = phase === 'running' || phase === 'waiting';
  const showsBelow = hasBelow && (isSubagent(call) ? isAtWork : wasLive);
  const question = isQuestion(call) ? approval?.title : undefined;
  const worthWatching = useWorthWatching(call, phase);
  const isEdit = phase === 'done' && call.diffs !== undefined && call.diffs.length > 0;
  const isShown = showsBelow || worthWatching || isOwn === true || isEdit;
  const open = chosen ?? (question === undefined && opensItself(phase, isShown));
  const bodyId = useId();
  const answerText = approval === undefined || waits ? undefined : approvalAnswerText(approval);
  const words = toolWords(call, folder);
  const { verb, subject } = question === undefined ? words : { ...words, subject: question };

  return (
    <div
      className={css.card}
      role="group"
      aria-label={labelOf(`${verb} ${subject}`)}
      data-item-id={call.itemId}
      data-status={call.status}
      data-phase={phase}
      data-kind={call.kind}
    >
      <div className={css.line}>
        <Disclosure
          className={css.head}
          isOpen={open}
          onToggle={() => setChosen(!open)}
          contentId={bodyId}
        >
          <ToolIcon kind={call.kind} subagent={isSubagent(call)} />
          <span className={css.verb}>
            <ShownText text={verb} />
          </span>
          <span className={joinClasses(css.subject, !verb && css.verb)}>
            <ShownText text={headOf(subject, mostInLine)} />
          </span>
          <ToolOutcome call={call} phase={phase} began={began} isUnrun={neverRan(call, approval)} />
        </Disclosure>
        {waits && <WaitingLink approval={asked} />}
        {phase === 'running' && <ToBackground call={call} />}
      </div>
      {answerText !== undefined && !open && (
        <p className={css.said}>
          <span>You: </span>
          <ShownText text={answerText} />
        </p>
      )}
      {open && (
        <div id={bodyId} className={css.body}>
          <ToolDetails
            call={call}
            phase={phase}
            began={began}
            folder={folder}
            answerBelow={answerBelow}
          >
            {hasBelow && <div className={css.below}>{children}</div>}
          </ToolDetails>
        </div>
      )}
      {approval !== undefined && !waits && open && <ApprovalOutcomeNote approval={approval} />}
    </div>
  );
}

/**
 * Whether the line is opened without a press: errors, running calls and edits are. A waiting call is not, because it is
 * shown above the composer.
 */
function opensItself(phase: ToolPhase, isShown: boolean): boolean {
  return phase === 'failed' || isShown;
}

/**
 * The output of a program that runs longer than this (ms) is shown while it runs. A shorter program has only its line.
 */
const longEnough = 1_000;

/**
 * Returns whether a program has output and has been running for a while. The result stays true when the program ends.
 */
function useWorthWatching(call: ToolCallUpsert, phase: ToolPhase): boolean {
  const [isWorth, setWorth] = useRemembered('worth watching', false);
  const hasOutput = call.toolOutput !== undefined && call.toolOutput.trim() !== '';
  const isLive = call.kind === 'execute' && phase === 'running' && hasOutput;
  const { startedAt } = call;
  useEffect(() => {
    if (!isLive) return undefined;
    const ran = startedAt === undefined ? 0 : Date.now() - Date.parse(startedAt);
    const timer = setTimeout(() => setWorth(true), Math.max(0, longEnough - (ran || 0)));
    return () => clearTimeout(timer);
  }, [isLive, setWorth, startedAt]);
  return isWorth;
}
