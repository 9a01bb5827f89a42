import { errorCode, errorMessage } from '../errors.ts';
import type { Logger } from '../settings.ts';

/** If an error has not occurred for this time, in ms, the error counts as over. */
const quietMs = 10_000;

/** Logs repeated errors, for example while Redis is unreachable, only when they begin and when they are over. */
export class TroubleLog {
  readonly #logger: Logger;
  readonly #lasting = new Map<string, { times: number; quietTimer: NodeJS.Timeout }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(error: unknown): void {
    const details = { code: errorCode(error), error: errorMessage(error) };
    const key = JSON.stringify(details);
    const lasting = this.#lasting.get(key);
    if (lasting) {
      lasting.times += 1;
      lasting.quietTimer.refresh();
      return;
    }
    this.#logger.warn(details, 'cluster coordination failed');
    const quietTimer = setTimeout(() => this.#logOver(key, details), quietMs).unref();
    this.#lasting.set(key, { times: 1, quietTimer });
  }

  #logOver(key: string, details: object): void {
    const { times = 1 } = this.#lasting.get(key) ?? {};
    this.#lasting.delete(key);
    if (times > 1) this.#logger.warn({ ...details, times }, 'cluster coordination works again');
  }
}
