import { randomUUID } from 'node:crypto';

/** Assigns each call of an answer an id that is unique in the conversation. */
export class CallIds {
  readonly #taken: Set<string>;
  readonly #make: () => string;

  /** @param taken - The call ids that the conversation already has. */
  constructor(taken: Iterable<string> = [], make: () => string = madeUp) {
    this.#taken = new Set(taken);
    this.#make = make;
  }

  /** Returns the server's own id; a new id if the server sent none, or sent the id of another call. */
  take(own: string | undefined): string {
    const callId = own === undefined || own === '' || this.#taken.has(own) ? this.#make() : own;
    this.#taken.add(callId);
    return callId;
  }
}

const madeUp = (): string => `call_${randomUUID().replaceAll('-', '')}`;
