import { setTimeout as delay } from 'node:timers/promises';

/** How long a required service may take to answer, in ms. */
const patienceMs = 1_000;
/** How long an answer is reused, in ms: each required service is asked at most once in this time. */
const reuseMs = 1_000;

/** A service that this server needs, such as the database. */
export interface Dependency {
  /** The subject of a sentence for users. */
  name: string;
  /** Sends the service a cheap request; rejects if the service cannot be reached. */
  ask: () => Promise<unknown>;
}

/** Checks whether the services that this server needs can be reached. */
export class Readiness {
  readonly #dependencies: readonly { name: string; ask: () => Promise<string | undefined> }[];
  #answer: { at: number; troubles: Promise<string[]> } | undefined;

  constructor(dependencies: readonly Dependency[]) {
    this.#dependencies = dependencies.map(({ name, ask }) => ({
      name,
      ask: oneAtATime(name, ask),
    }));
  }

  /** One sentence for each service that is not ready, without addresses; empty if all services are ready. */
  async troubles(): Promise<string[]> {
    const now = performance.now();
    if (!this.#answer || now - this.#answer.at > reuseMs) {
      this.#answer = { at: now, troubles: this.#checkAll() };
    }
    return this.#answer.troubles;
  }

  async #checkAll(): Promise<string[]> {
    const found = await Promise.all(
      this.#dependencies.map(async ({ name, ask }) => {
        const late = delay(patienceMs, `${name} does not answer.`, { ref: false });
        return Promise.race([ask(), late]);
      }),
    );
    return found.filter((trouble) => trouble !== undefined);
  }
}

/** Asks a service only once at a time: further callers wait for the running request. */
function oneAtATime(name: string, ask: Dependency['ask']): () => Promise<string | undefined> {
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
