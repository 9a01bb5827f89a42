import type { SessionState } from '@liminal/protocol';
import css from './StateMark.module.css';
import { states, unseen } from './states.ts';

interface StateMarkProps {
  state: SessionState;
  /** Whether the queue waits until a person resumes it. */
  isPaused?: boolean | undefined;
  /** Whether the session finished its work while it was not shown. */
  isUnseen?: boolean;
}

/**
 * Shows a session's state. Each state has a shape of its own, so that its colour is never the only sign. An idle
 * session has no mark.
 */
export function StateMark({ state, isPaused = false, isUnseen = false }: StateMarkProps) {
  const showsPause = isPaused && state === 'queued';
  const showsUnseen = isUnseen && state === 'idle';
  const { label: name, color } = showsUnseen ? unseen : states[state];
  const label = showsPause ? 'queue paused' : name;
  return (
    <svg
      className={css.mark}
      data-state={state}
      viewBox="0 0 16 16"
      role="img"
      aria-label={label}
      style={{ color }}
    >
      <title>{label}</title>
      {showsPause && <Pause />}
      {showsUnseen && <circle cx="8" cy="8" r="4" fill="currentColor" />}
      {!showsPause && !showsUnseen && <Shape state={state} />}
    </svg>
  );
}

function Pause() {
  return <path d="M5.5 3.5v9m5-9v9" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />;
}

function Shape({ state }: { state: SessionState }) {
  const outline = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.75 } as const;
  switch (state) {
    case 'waiting':
      return <path d="M8 1.5 14.5 8 8 14.5 1.5 8Z" fill="currentColor" />;
    case 'running':
      return (
        <>
          <circle cx="8" cy="8" r="5.5" {...outline} opacity="0.3" />
          <path d="M8 2.5A5.5 5.5 0 0 1 13.5 8" {...outline} strokeLinecap="round" />
          <circle cx="8" cy="8" r="2" fill="currentColor" />
        </>
      );
    case 'queued':
      return <circle cx="8" cy="8" r="5" {...outline} strokeDasharray="2.6 2.64" />;
    case 'failed':
      return (
        <>
          <circle cx="8" cy="8" r="6.5" fill="currentColor" />
          <path d="M8 4.5v4m0 3v.01" stroke="var(--page)" strokeWidth="2" strokeLinecap="round" />
        </>
      );
    case 'idle':
      return null;
  }
}
