import { randomUUID } from 'node:crypto';

/** Gives each call of an answer an id that no other call of the conversation has. */
export class CallIds {
  readonly #taken: Set<string>;
  readonly #make: () => string;

  /** @param taken - The ids of the conversation's calls so far. */
  constructor(taken: Iterable<string> = [], make: () => string = madeUp) {
    this.#taken = new Set(taken);
    this.#make = make;
  }

  /** The server's own id, or a new one if it has given none, or one that another call has. */
  take(own: string | undefined): string {
    const callId = own === undefined || own === '' || this.#taken.has(own) ? this.#make() : own;
    this.#taken.add(callId);
    return callId;
  }
}

const madeUp = (): string => `call_${randomUUID().replaceAll('-', '')}`;
