import { isInterruption, type ToolCallUpsert } from '@liminal/protocol';
import { Ban, Check, X } from 'lucide-react';
import { ChangeCount } from '../diff/ChangeCount.tsx';
import { duration } from '../words/time.ts';
import { Elapsed } from './Elapsed.tsx';
import { isNotMade, type ToolPhase, toolTook } from './tool-outcome.ts';
import { isQuestion, notMadeReason } from './tool-words.ts';
import css from './ToolOutcome.module.css';
import { serverRestarted, useTurnError } from './turn-error.ts';

interface ToolOutcomeProps {
  call: ToolCallUpsert;
  phase: ToolPhase;
  /** See `beganAt`. */
  began: string | undefined;
  /** See `neverRan`. */
  isUnrun?: boolean;
}

/**
 * Shows the right end of a tool's line: the number of changed lines, the exit code, the time, and a mark for the
 * outcome.
 */
export function ToolOutcome({ call, phase, began, isUnrun = false }: ToolOutcomeProps) {
  const isMade = !isNotMade(phase) && phase !== 'failed';
  const took = isNotMade(phase) ? undefined : toolTook(call, began);
  return (
    <span className={css.outcome}>
      {isMade && call.diffs !== undefined && call.diffs.length > 0 && (
        <ChangeCount diffs={call.diffs} />
      )}
      {call.exitCode !== undefined && call.exitCode !== null && call.exitCode !== 0 && (
        <span className={css.bad}>exit {call.exitCode}</span>
      )}
      {took !== undefined && took >= 100 && <span className={css.time}>{duration(took)}</span>}
      <PhaseMark call={call} phase={phase} since={began} isUnrun={isUnrun} />
    </span>
  );
}

interface PhaseMarkProps {
  call: ToolCallUpsert;
  phase: ToolPhase;
  since: string | undefined;
  isUnrun: boolean;
}

function PhaseMark({ call, phase, since, isUnrun }: PhaseMarkProps) {
  const wasInterrupted = isInterruption(useTurnError());
  switch (phase) {
    case 'running':
      return (
        <>
          <span className={css.time}>
            <Elapsed since={since} />
          </span>
          <span className={css.spinner} role="img" aria-label="running" />
        </>
      );
    case 'waiting':
      // The call needs no mark, because the link beside it shows that the call waits.
      return null;
    case 'done':
      return (
        <Check size={14} className={css.good} role="img" aria-label="done" aria-hidden={false} />
      );
    case 'failed':
      return <X size={14} className={css.bad} role="img" aria-label="failed" aria-hidden={false} />;
    case 'rejected':
      return <span className={css.time}>{isQuestion(call) ? 'Skipped' : 'Rejected'}</span>;
    case 'stopped':
      if (call.kind === 'edit' || isUnrun) {
        const why = wasInterrupted && isUnrun ? serverRestarted : 'stopped';
        return <span className={css.time}>{notMadeReason(call, why)}</span>;
      }
      return (
        <Ban size={13} className={css.time} role="img" aria-label="stopped" aria-hidden={false} />
      );
  }
}
