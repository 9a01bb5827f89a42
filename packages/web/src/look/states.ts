import type { SessionState } from '@liminal/protocol';

/** How each of the five states is said in words, and the sign it has where only text can stand (a title). */
export const states: Record<SessionState, { label: string; sign: string; color: string }> = {
  waiting: { label: 'needs you', sign: '◆', color: 'var(--warning)' },
  running: { label: 'running', sign: '●', color: 'var(--accent)' },
  queued: { label: 'queued', sign: '◌', color: 'var(--text-soft)' },
  failed: { label: 'failed', sign: '✕', color: 'var(--danger)' },
  idle: { label: 'idle', sign: '○', color: 'var(--text-faint)' },
};
