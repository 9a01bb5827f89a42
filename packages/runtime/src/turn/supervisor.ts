/** Tells of a mistake and ends what cannot go on; the sentence is for people. What it throws itself is not told again. */
type OnFault = (error: unknown, sentence: string) => void;

const WENT_WRONG =
  'Liminal could not deal with something in this session, so its agent was stopped. What was said until then is kept; the server’s log says more.';

/**
 * Keeps a mistake with the session that it happened in. Whatever of a session nobody waits for (a timer, what its agent
 * says, what the log has taken) runs through here: what it throws is told, and nothing of it reaches the process.
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

  /** For what takes time. */
  start(work: () => Promise<unknown>): void {
    Promise.try(work).catch((error: unknown) => this.fault(error));
  }

  fault(error: unknown): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      this.#onFault(error, WENT_WRONG);
    } catch {
      // Whoever is to end it cannot: the session stays as it is, and the others go on.
    } finally {
      this.#isTelling = false;
    }
  }
}
