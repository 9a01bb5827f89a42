import { ProviderError } from '../errors.ts';
import type { ProviderSession } from '../provider.ts';
import { StartLimit } from './start-limit.ts';

interface Start {
  session: Promise<ProviderSession>;
  abort: AbortController;
}

/** Sessions that are being started: two who want one get the same, and whoever ends one gives its start up. */
export class Starts {
  readonly #limit: StartLimit;
  readonly #underWay = new Map<string, Start>();

  readonly #name: string;

  /** `atOnce` bounds how many processes start at the same time; `name` is the agent's, for people. */
  constructor(atOnce: number, name: string) {
    this.#limit = new StartLimit(atOnce);
    this.#name = name;
  }

  get sessionIds(): string[] {
    return [...this.#underWay.keys()];
  }

  /** The session's start that is under way. */
  of(sessionId: string): Promise<ProviderSession> | undefined {
    return this.#underWay.get(sessionId)?.session;
  }

  /** Gives the start that is under way, or begins one. Rejects as `start` does, which is to reject when `signal` says so. */
  begin(
    sessionId: string,
    start: (signal: AbortSignal) => Promise<ProviderSession>,
  ): Promise<ProviderSession> {
    const known = this.#underWay.get(sessionId);
    if (known !== undefined) return known.session;
    const abort = new AbortController();
    const { signal } = abort;
    const session = this.#limit
      .run(() => start(signal), signal)
      .finally(() => this.#underWay.delete(sessionId));
    this.#underWay.set(sessionId, { session, abort });
    return session;
  }

  /** Starts what is no session, within the same bound. */
  aside<T>(start: () => Promise<T>): Promise<T> {
    return this.#limit.run(start);
  }

  /** Resolves when the session is not being started any more, which may have been too late to prevent. */
  async giveUp(sessionId: string): Promise<void> {
    const start = this.#underWay.get(sessionId);
    const message = `The session was ended before ${this.#name} had started.`;
    start?.abort.abort(new ProviderError('SESSION_CREATE_FAILED', message));
    await start?.session.catch(() => undefined);
  }
}
