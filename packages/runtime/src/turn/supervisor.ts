/**
 * Reports an error, and ends the turn and the agent; `sentence` is shown to users. If this fails, the new error is
 * ignored.
 */
type OnFault = (error: unknown, sentence: string) => void;

const wentWrong =
  'Liminal could not process an event of this session, so its agent was stopped. Everything up to then is kept; the server’s log has details.';

/**
 * Keeps an error inside the session in which it happened. Work that no caller awaits (timers, agent drafts, logged
 * events) runs through this class: the errors of such work are reported, and never end the process.
 */
export class Supervisor {
  readonly #onFault: OnFault;
  #isReporting = false;

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

  /** Does the same as `run` for asynchronous work. */
  start(work: () => Promise<unknown>): void {
    Promise.try(work).catch((error: unknown) => this.fault(error));
  }

  fault(error: unknown): void {
    if (this.#isReporting) return;
    this.#isReporting = true;
    try {
      this.#onFault(error, wentWrong);
    } catch {
      // Reporting has failed too: the session stays as it is, and other sessions continue.
    } finally {
      this.#isReporting = false;
    }
  }
}
