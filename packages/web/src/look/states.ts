import type { SessionState } from '@liminal/protocol';

/** The words of the states, and the sign of each where only text is possible (a title). */
export const states: Record<SessionState, { label: string; sign: string; color: string }> = {
  waiting: { label: 'needs you', sign: '◆', color: 'var(--warning)' },
  running: { label: 'running', sign: '●', color: 'var(--accent)' },
  queued: { label: 'queued', sign: '◌', color: 'var(--text-soft)' },
  failed: { label: 'failed', sign: '!', color: 'var(--danger)' },
  idle: { label: 'idle', sign: '', color: 'var(--text-faint)' },
};

/** A session at rest that has ended its work out of sight. */
export const unseen = { label: 'finished, not seen yet', sign: '✓', color: 'var(--accent)' };
