/** The base class of errors that have a code for programs and a message for people. */
export class LiminalError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Returns a thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the message of a thrown value. */
export function thrownMessage(thrown: unknown): string {
  return asError(thrown).message;
}
