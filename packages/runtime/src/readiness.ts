import { setTimeout as delay } from 'node:timers/promises';

/** How long a part may take to answer, in ms. */
const PATIENCE_MS = 1_000;
/** How long an answer is reused, in ms: each part is asked at most once in this time. */
const KEPT_MS = 1_000;

/** A part that the server needs, such as the database. */
export interface Part {
  /** The subject of a sentence for users. */
  name: string;
  /** Sends the part a cheap request; rejects if the part cannot be reached. */
  ask: () => Promise<unknown>;
}

/** Checks whether the parts that the server needs can be reached. */
export class Readiness {
  readonly #parts: readonly { name: string; ask: () => Promise<string | undefined> }[];
  #answer: { at: number; troubles: Promise<string[]> } | undefined;

  constructor(parts: readonly Part[]) {
    this.#parts = parts.map(({ name, ask }) => ({ name, ask: oneAtATime(name, ask) }));
  }

  /** One sentence for each part that is not ready, without addresses; empty if all are ready. */
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

/** A part that has not answered yet is not asked a second time. */
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
