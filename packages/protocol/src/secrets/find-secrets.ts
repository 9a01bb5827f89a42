import { knownSecretRule, secretRules } from './rules.ts';

/** A part of a text that is a secret. */
export interface FoundSecret {
  start: number;
  end: number;
  /** The id of the rule that found the secret. */
  rule: string;
}

/** The mark that replaces a secret. The mark contains no quotes, so that JSON remains valid. */
export const secretMark = (rule: string): string => `[secret: ${rule}]`;

/**
 * Matches every text in which a rule can find a secret. Testing a text with this pattern is much faster than applying
 * the rules.
 */
const mayHaveOne =
  /:\/\/|-----BEGIN|sk-|[sr]k_|gh[pousr]_|_pat_|\bgl[a-z]{2,5}-|xox|xapp-|slack|A[KSBC][IC]A|AIza|ya29|GOCSPX|npm_|hf_|eyJ|key|token|secret|passw|passphrase|[_-](?:pass|pwd|auth)|credential|authorization|bearer|cookie|sig=|signature|auth=|code=|\|/i;

/**
 * `mayHaveOne` is tested on parts of `partSize` characters. The parts overlap by `longestWord` characters, the length
 * of the longest word in the pattern.
 */
const [partSize, longestWord] = [256 * 1024, 20];

/** The cost of handling one found secret, as the number of characters that a pattern reads in the same time. */
const spanCost = 100;

/** The most characters that one step of a search reads; the search for one rule in a larger text is one step. */
const stepSize = 2 * 1024 * 1024;

/** Work that is divided into steps. Between two steps the caller can do other work. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps without a pause, and returns the result. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Finds secrets in texts, by the rules and by a list of known secrets. Pure. */
export class SecretFinder {
  readonly #known: readonly string[];
  /** The number of characters read in the current step. */
  #read = 0;

  /**
   * @param known - Secrets to find anywhere; secrets with less than 8 characters are ignored, because they could be
   *   words.
   */
  constructor(known: readonly string[]) {
    const written = known.filter(({ length }) => length >= 8);
    const inJson = written.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#known = [...new Set([...written, ...inJson])];
  }

  /**
   * Yields the secrets in their order, without overlaps: if several rules find overlapping parts, these parts are
   * yielded as one secret.
   */
  *find(text: string): Steps<FoundSecret[]> {
    const found: FoundSecret[] = [];
    for (const secret of this.#known) {
      yield* this.reading(text.length);
      for (const one of knownIn(text, secret)) found.push(one);
    }
    if (yield* this.#mayHaveOne(text)) {
      for (const { id, searches } of rules) {
        for (const search of searches) {
          yield* this.reading(text.length);
          for (const span of search(text)) {
            yield* this.reading(spanCost);
            if (span) found.push({ ...span, rule: id });
          }
        }
      }
    }
    const merged: FoundSecret[] = [];
    for (const one of found.toSorted((a, b) => a.start - b.start)) {
      const last = merged.at(-1);
      if (last && one.start < last.end) last.end = Math.max(last.end, one.end);
      else merged.push({ ...one });
    }
    return merged;
  }

  *#mayHaveOne(text: string): Steps<boolean> {
    for (let at = 0; at < text.length; at += partSize) {
      yield* this.reading(Math.min(partSize, text.length - at));
      if (mayHaveOne.test(text.slice(at, at + partSize + longestWord))) return true;
    }
    return false;
  }

  /** Ends the current step if reading `count` more characters would exceed the step's size. */
  *reading(count: number): Steps<void> {
    if (this.#read > 0 && this.#read + count > stepSize) {
      this.#read = 0;
      yield;
    }
    this.#read += count;
  }
}

interface MatchRange {
  start: number;
  end: number;
}

function* knownIn(text: string, secret: string): Generator<FoundSecret> {
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    yield { start: at, end: at + secret.length, rule: knownSecretRule.id };
  }
}

/**
 * The most repetitions in a pattern. Each repetition uses stack space, and a few million repetitions use all of it. A
 * match that reaches the limit is extended to the end of its word.
 */
const maxScanned = 100_000;

const rules = secretRules.map(({ id, patterns, openings = [] }) => ({
  id,
  searches: [
    ...openings.map((opening) => (text: string) => quotedIn(text, opening)),
    ...patterns.map(withLimits).map((pattern) => (text: string) => matchesIn(text, pattern)),
  ],
}));

function withLimits({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(/\{(\d+),\}/g, `{$1,${maxScanned}}`), flags);
}

function* matchesIn(text: string, pattern: RegExp): Generator<MatchRange> {
  for (const match of text.matchAll(pattern)) {
    const [start, end] = match.indices?.groups?.['secret'] ?? [
      match.index,
      match.index + match[0].length,
    ];
    yield { start, end: end - start < maxScanned ? end : endOfWord(text, end) };
  }
}

function endOfWord(text: string, from: number): number {
  const end = /[\s"'\x60\\]/g;
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}

/**
 * Yields secrets in quotes on one line, of any length. Yields undefined for an opening without a secret. Takes linear
 * time: if the closing quote of an opening is missing, no further opening with the same quote can follow on the line,
 * because that opening's quote would be the closing quote.
 */
function* quotedIn(text: string, opening: RegExp): Generator<MatchRange | undefined> {
  const openings = new RegExp(opening);
  /** The next position of each quote, and of the line's end, at or after the search position. */
  const next = new Map<string, number>();
  const nextOf = (mark: string, from: number): number => {
    const known = next.get(mark) ?? -1;
    if (known >= from) return known;
    const found = text.indexOf(mark, from);
    next.set(mark, found < 0 ? text.length : found);
    return found < 0 ? text.length : found;
  };
  for (let found = openings.exec(text); found !== null; found = openings.exec(text)) {
    const start = openings.lastIndex;
    const quote = found.groups?.['quote'] ?? '';
    const lineEnd = nextOf('\n', start);
    const end = quote.startsWith('\\')
      ? nextOf(quote, start)
      : endOfQuoted(text, start, lineEnd, quote);
    const isFound = end < lineEnd && end > start;
    if (isFound) openings.lastIndex = end + quote.length;
    yield isFound ? { start, end } : undefined;
  }
}

/** Returns the position of the first quote that is not escaped, or the line's end if every quote is escaped. */
function endOfQuoted(text: string, from: number, lineEnd: number, quote: string): number {
  for (let at = from; at < lineEnd; at += 1) {
    if (text[at] === quote) return at;
    if (text[at] === '\\') at += 1;
  }
  return lineEnd;
}
