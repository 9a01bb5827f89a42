/** The base class of errors that have a code for programs and a message for people. */
export class LiminalError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * A message as a function of its parts. All parts are required, because the options of an error follow the last part.
 */
type Sentence = (...parts: never[]) => string;

type Makers<Sentences, Made> = {
  [Name in keyof Sentences]: Sentences[Name] extends Sentence
    ? Parameters<Sentences[Name]> extends Required<Parameters<Sentences[Name]>>
      ? (...given: [...parts: Parameters<Sentences[Name]>, options?: ErrorOptions]) => Made
      : never
    : never;
};

/**
 * Makes the errors of a package from its table: code → name → message. `errors.CODE.name(…)` takes the parts of the
 * message and, after them, optionally the cause as `{ cause }`.
 */
export function errorTable<
  Table extends Record<string, Record<string, Sentence>>,
  Made extends Error,
>(
  table: Table,
  ErrorClass: new (code: keyof Table & string, message: string, options?: ErrorOptions) => Made,
): { [Code in keyof Table]: Makers<Table[Code], Made> } {
  const rows = Object.entries(table).map(([code, sentences]): [string, object] => {
    const makers = Object.entries(sentences).map(([name, sentence]) => {
      const make = (...given: unknown[]): Made => {
        const options = given[sentence.length] as ErrorOptions | undefined;
        const error = new ErrorClass(code, sentence(...(given as never[])), options);
        stacks.captureStackTrace?.(error, make);
        return error;
      };
      return [name, make] as const;
    });
    return [code, Object.fromEntries(makers)];
  });
  return Object.fromEntries(rows) as { [Code in keyof Table]: Makers<Table[Code], Made> };
}

/**
 * `Error` with `captureStackTrace`, which makes the stack of an error begin at the caller of `above`. Some engines lack
 * this function.
 */
const stacks: {
  prototype: Error;
  captureStackTrace?: (error: Error, above: () => unknown) => void;
} = Error;

/** Returns a thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the message of a thrown value. */
export function thrownMessage(thrown: unknown): string {
  return asError(thrown).message;
}
