import type { SessionState } from '@liminal/protocol';

/** For each state: its label, its colour, and its sign for plain text such as a title. */
export const states: Record<SessionState, { label: string; sign: string; color: string }> = {
  waiting: { label: 'needs you', sign: '◆', color: 'var(--warning)' },
  running: { label: 'running', sign: '●', color: 'var(--accent)' },
  queued: { label: 'queued', sign: '◌', color: 'var(--text-soft)' },
  failed: { label: 'failed', sign: '!', color: 'var(--danger)' },
  idle: { label: 'idle', sign: '', color: 'var(--text-faint)' },
};

/** The label, sign and colour of an idle session that finished its work while it was not shown. */
export const unseen = { label: 'finished, not seen yet', sign: '✓', color: 'var(--accent)' };
