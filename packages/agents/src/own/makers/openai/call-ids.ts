import { randomUUID } from 'node:crypto';

/** Assigns each call of an answer an id that is unique in the conversation. */
export class CallIds {
  readonly #taken: Set<string>;
  readonly #make: () => string;

  /** @param taken - The ids of the conversation's calls so far. */
  constructor(taken: Iterable<string> = [], make: () => string = madeUp) {
    this.#taken = new Set(taken);
    this.#make = make;
  }

  /** The server's own id; a new one if the server sent none, or the id of another call. */
  take(own: string | undefined): string {
    const callId = own === undefined || own === '' || this.#taken.has(own) ? this.#make() : own;
    this.#taken.add(callId);
    return callId;
  }
}

const madeUp = (): string => `call_${randomUUID().replaceAll('-', '')}`;
