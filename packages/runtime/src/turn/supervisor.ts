/** Reports an error and ends what cannot go on; the sentence is for people. Its own errors are ignored. */
type OnFault = (error: unknown, sentence: string) => void;

const WENT_WRONG =
  'Liminal could not deal with something in this session, so its agent was stopped. What was said until then is kept; the server’s log says more.';

/**
 * Keeps an error inside the session in which it happened. Work that no caller awaits (timers, what the agent says, what
 * the log has taken) runs through here: its errors are reported, and never reach the process.
 */
export class Supervisor {
  readonly #onFault: OnFault;
  #isTelling = false;

  constructor(onFault: OnFault) {
    this.#onFault = onFault;
  }

  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fault(error);
    }
  }

  /** The same for asynchronous work. */
  start(work: () => Promise<unknown>): void {
    Promise.try(work).catch((error: unknown) => this.fault(error));
  }

  fault(error: unknown): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      this.#onFault(error, WENT_WRONG);
    } catch {
      // Ending it has failed too: the session stays as it is, and the others go on.
    } finally {
      this.#isTelling = false;
    }
  }
}
