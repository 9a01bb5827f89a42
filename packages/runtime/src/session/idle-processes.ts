import type { Session } from './session.ts';

/**
 * Limits the agent processes of idle sessions: beyond the limit, the process of the session that was idle longest ends.
 * A process costs hundreds of megabytes; a session whose process has ended can start another process.
 */
export class IdleProcesses {
  readonly #max: number;
  readonly #idle = new Set<Session>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Records a changed session; returns the sessions whose process should end. */
  note(session: Session): Session[] {
    if (!session.isAlive || !session.isIdle || session.hasTasks) {
      this.#idle.delete(session);
      return [];
    }
    if (this.#idle.has(session)) return [];
    this.#idle.add(session);
    const excess = [...this.#idle].slice(0, Math.max(0, this.#idle.size - this.#max));
    for (const old of excess) this.#idle.delete(old);
    return excess;
  }
}
