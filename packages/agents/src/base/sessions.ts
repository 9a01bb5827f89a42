import { ProviderError } from '../errors.ts';
import { Newest } from './newest.ts';

/** So many sessions that were ended are remembered; of others, whoever starts them again has to know all. */
const MAX_ENDED = 1_000;

interface Session<Remembered> {
  readonly isAlive: boolean;
  /** What starting it again needs. */
  readonly remembered: Remembered;
  /** Ends the agent and all it has started; resolves when that is done, however often it is asked for. */
  kill(): Promise<void>;
}

/** A provider's sessions, by id. Of those that were ended, only what starting them again needs is kept. */
export class Sessions<S extends Session<Remembered>, Remembered> {
  readonly #name: string;
  readonly #sessions = new Map<string, S>();
  readonly #ended = new Newest<string, Remembered>(MAX_ENDED);

  /** @param name - The agent's, for people. */
  constructor(name: string) {
    this.#name = name;
  }

  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  isAlive(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.isAlive ?? false;
  }

  /** Throws ProviderError `SESSION_NOT_FOUND`, or `PROCESS_CRASH` of one that was ended. */
  get(sessionId: string): S {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session;
    if (!this.#ended.has(sessionId)) throw this.notFound(sessionId);
    throw new ProviderError('PROCESS_CRASH', `${this.#name} has ended. It is no longer running.`);
  }

  /** Does something with a session that may have been ended: then there is nothing to do. `SESSION_NOT_FOUND`. */
  async unlessEnded(sessionId: string, act: (session: S) => Promise<void> | void): Promise<void> {
    if (!this.#ended.has(sessionId)) await act(this.get(sessionId));
  }

  /** Of one that runs, has crashed, or was ended. */
  remembered(sessionId: string): Remembered | undefined {
    return this.#sessions.get(sessionId)?.remembered ?? this.#ended.get(sessionId);
  }

  put(sessionId: string, session: S): void {
    this.#ended.delete(sessionId);
    this.#sessions.set(sessionId, session);
  }

  /** Ends a session, if there is one, and forgets all but what is remembered. */
  async end(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    await session.kill();
    if (this.#sessions.get(sessionId) !== session) return;
    this.#sessions.delete(sessionId);
    this.#ended.set(sessionId, session.remembered);
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map(async (sessionId) => this.end(sessionId)));
  }

  notFound(sessionId: string): ProviderError {
    return new ProviderError('SESSION_NOT_FOUND', `${this.#name} has no session ${sessionId}.`);
  }
}
