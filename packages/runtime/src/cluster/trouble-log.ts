import { errorCode, errorMessage } from '../errors.ts';
import type { Logger } from '../settings.ts';

/** An error that has not occurred for this long is over, in ms. */
const QUIET_MS = 10_000;

/** Logs repeated errors, for example while Redis is unreachable, only when they begin and when they are over. */
export class TroubleLog {
  readonly #logger: Logger;
  readonly #lasting = new Map<string, { times: number; over: NodeJS.Timeout }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(error: unknown): void {
    const details = { code: errorCode(error), error: errorMessage(error) };
    const key = JSON.stringify(details);
    const lasting = this.#lasting.get(key);
    if (lasting) {
      lasting.times += 1;
      lasting.over.refresh();
      return;
    }
    this.#logger.warn(details, 'cluster coordination failed');
    const over = setTimeout(() => this.#over(key, details), QUIET_MS).unref();
    this.#lasting.set(key, { times: 1, over });
  }

  #over(key: string, details: object): void {
    const { times = 1 } = this.#lasting.get(key) ?? {};
    this.#lasting.delete(key);
    if (times > 1) this.#logger.warn({ ...details, times }, 'cluster coordination works again');
  }
}
