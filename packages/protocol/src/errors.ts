/** The root of errors with a code for programs and a sentence for people. */
export class LiminalError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Anything thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return asError(thrown).message;
}
