import { setTimeout as delay } from 'node:timers/promises';

/** How long a part may take to answer, ms. */
const PATIENCE_MS = 1_000;
/** How long an answer counts, ms: however many ask, each part is asked once in that time. */
const KEPT_MS = 1_000;

/** A part that a server needs for its work. */
export interface Part {
  /** For people, as the subject of a sentence. */
  name: string;
  /** Asks it for next to nothing; rejects if it cannot be reached. */
  ask: () => Promise<unknown>;
}

/** Whether the parts that a server needs can be reached. */
export class Readiness {
  readonly #parts: readonly { name: string; ask: () => Promise<string | undefined> }[];
  #answer: { at: number; troubles: Promise<string[]> } | undefined;

  constructor(parts: readonly Part[]) {
    this.#parts = parts.map(({ name, ask }) => ({ name, ask: oneAtATime(name, ask) }));
  }

  /** A sentence for each part that is not ready; none if all are. They name no addresses. */
  async troubles(): Promise<string[]> {
    const now = performance.now();
    if (!this.#answer || now - this.#answer.at > KEPT_MS) {
      this.#answer = { at: now, troubles: this.#look() };
    }
    return this.#answer.troubles;
  }

  async #look(): Promise<string[]> {
    const found = await Promise.all(
      this.#parts.map(async ({ name, ask }) => {
        const late = delay(PATIENCE_MS, `${name} does not answer.`, { ref: false });
        return Promise.race([ask(), late]);
      }),
    );
    return found.filter((trouble) => trouble !== undefined);
  }
}

/** A part that does not answer is not asked once more meanwhile. */
function oneAtATime(name: string, ask: Part['ask']): () => Promise<string | undefined> {
  let asking: Promise<string | undefined> | undefined;
  return async () => {
    asking ??= Promise.try(ask)
      .then(
        () => undefined,
        () => `${name} cannot be reached.`,
      )
      .finally(() => (asking = undefined));
    return asking;
  };
}
