import { continuationNote, type JoinedTurn, stopReason, type TurnView } from '@liminal/client';
import { continueMessage, isInterruption, isServerTurn } from '@liminal/protocol';
import { Check, Copy } from 'lucide-react';
import { Button, IconButton } from '../look/controls.tsx';
import { useCopy } from '../look/use-copy.ts';
import { tokens } from '../words/amounts.ts';
import { duration } from '../words/time.ts';
import { useActivity } from './activity.ts';
import { answerText, hasAnswer } from './answer-text.ts';
import { isWaiting } from './arrange.ts';
import { Elapsed } from './Elapsed.tsx';
import { ForkHere } from './ForkHere.tsx';
import { useReadOnly } from './read-only.ts';
import { RewindFiles } from './RewindFiles.tsx';
import { useSessionActions } from './session-actions.ts';
import { TakenBackFold } from './taken-back.tsx';
import css from './TurnEnd.module.css';
import { waitedFor } from './tool-outcome.ts';
import { isSignInFailure, TurnFailure } from './TurnFailure.tsx';

interface TurnEndProps {
  turn: JoinedTurn;
  /** Whether no turn follows. */
  isLast: boolean;
}

/**
 * Shows the state of a turn: working, waiting, stopped (and why), continued below, failed, or done (and after how much
 * time).
 */
export function TurnEnd({ turn, isLast }: TurnEndProps) {
  if (turn.status === 'in_progress') return <AtWork turn={turn} />;
  if (turn.continuedBy !== undefined) return <ContinuedNote turn={turn} />;
  if (turn.status === 'error') {
    return (
      <TurnFailure error={turn.error} isOld={!isLast}>
        {isLast && <Resume turn={turn} />}
        {(hasBegun(turn) || !isSignInFailure(turn.error?.code)) && (
          <>
            <ForkHere turnId={turn.turnId} isLast={isLast} />
            <RewindFiles turn={turn} />
          </>
        )}
      </TurnFailure>
    );
  }
  if (turn.rewoundTo !== undefined) return <TakenBackFold turnId={turn.turnId} />;
  // A turn that the server itself wrote contains only a notice, and has no duration.
  if (isServerTurn(turn)) return null;
  const took = tookOf(turn);
  const parts = [
    turn.status === 'aborted' ? 'Stopped' : stopReason(turn),
    took === undefined ? undefined : workTime(took, turn),
    // Some agents report no tokens.
    turn.usage?.outputTokens ? `${tokens(turn.usage.outputTokens)} tokens out` : undefined,
  ].filter((part) => part !== undefined);
  return (
    <div className={css.end} data-status={turn.status}>
      <span>{parts.join(' · ')}</span>
      <CopyAnswer turn={turn} />
      <ForkHere turnId={turn.turnId} isLast={isLast} iconClass={css.action} />
      <RewindFiles turn={turn} iconClass={css.action} />
    </div>
  );
}

/** Shows the end of a turn that was cut off. A later turn continues it and repeats its questions. */
function ContinuedNote({ turn }: { turn: JoinedTurn }) {
  const words = continuationNote(turn);
  if (words === undefined) return null;
  return (
    <div className={css.end} data-status="gone-on">
      <span>{words}</span>
      <ForkHere turnId={turn.turnId} isLast={false} iconClass={css.action} />
      <RewindFiles turn={turn} iconClass={css.action} />
    </div>
  );
}

function AtWork({ turn }: { turn: TurnView }) {
  const activity = useActivity() ?? 'Working';
  const waits = turn.items.some((item) => item.type === 'approval' && isWaiting(item));
  if (waits) return null;
  return (
    <p className={css.work}>
      <span className={css.pulse} aria-hidden="true" />
      {activity} <Elapsed since={turn.startedAt} />
    </p>
  );
}

/**
 * Returns, for example, `1 min (+1 min waiting)`: the time that the agent worked, and the time that the turn waited for
 * a person.
 */
function workTime(took: number, { items }: TurnView): string {
  const waited = waitedFor(items.filter((item) => item.type === 'approval'));
  if (waited < 1000) return duration(took);
  return `${duration(Math.max(0, took - waited))} (+${duration(waited)} waiting)`;
}

function tookOf({ startedAt, endedAt }: TurnView): number | undefined {
  return startedAt === undefined || endedAt === undefined ? undefined : endedAt - startedAt;
}

/** A button that copies the agent's answer as Markdown. */
function CopyAnswer({ turn }: { turn: TurnView }) {
  const { copied, copy } = useCopy();
  if (!hasAnswer(turn)) return null;
  return (
    <IconButton
      className={css.action}
      label={copied ? 'Copied' : 'Copy answer'}
      onClick={() => copy(answerText(turn))}
    >
      {copied ? <Check size={13} /> : <Copy size={13} />}
    </IconButton>
  );
}

/** Whether the agent has done anything in a turn. */
const hasBegun = ({ items }: TurnView): boolean =>
  items.some((item) => item.type !== 'message' || item.origin === 'agent');

/** A button that resumes an interrupted agent, or sends the message again. */
function Resume({ turn }: { turn: TurnView }) {
  const { send } = useSessionActions();
  const isReadOnly = useReadOnly();
  if (!isReadOnly && hasBegun(turn) && isInterruption(turn.error?.code)) {
    return <Button onClick={() => send(continueMessage)}>Continue</Button>;
  }
  const asked = turn.items.find((item) => item.type === 'message' && item.origin === 'user');
  if (isReadOnly || asked?.type !== 'message') return null;
  return <Button onClick={() => send(asked.content, asked.blocks)}>Send again</Button>;
}
