import { knownSecretRule, secretRules } from './rules.ts';

/** A part of a text that is a secret. */
export interface FoundSecret {
  start: number;
  end: number;
  /** The id of the rule that found it. */
  rule: string;
}

/** What stands in the place of a secret. It has no quotes: JSON stays JSON. */
export const secretMark = (rule: string): string => `[secret: ${rule}]`;

/** No rule finds anything in a text without one of these: a check that is much faster than all of them. */
const mayHaveOne =
  /:\/\/|-----BEGIN|sk-|[sr]k_|gh[pousr]_|_pat_|\bgl[a-z]{2,5}-|xox|xapp-|slack|A[KSBC][IC]A|AIza|ya29|GOCSPX|npm_|hf_|eyJ|key|token|secret|passw|passphrase|credential|authorization|bearer|cookie|\|/i;

/** Finds secrets in texts, by the rules and by what is known. Pure. */
export class SecretFinder {
  readonly #known: readonly string[];

  /** @param known - Secrets to find wherever they stand; those shorter than 8 characters could be words. */
  constructor(known: readonly string[] = []) {
    const written = known.filter(({ length }) => length >= 8);
    const inJson = written.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#known = [...new Set([...written, ...inJson])].toSorted((a, b) => b.length - a.length);
  }

  /** In order, apart from each other: what several rules find is one secret. */
  find(text: string): FoundSecret[] {
    const found = [...this.#knownIn(text), ...(mayHaveOne.test(text) ? byRules(text) : [])];
    const merged: FoundSecret[] = [];
    for (const one of found.toSorted((a, b) => a.start - b.start)) {
      const last = merged.at(-1);
      if (last && one.start < last.end) last.end = Math.max(last.end, one.end);
      else merged.push({ ...one });
    }
    return merged;
  }

  #knownIn(text: string): FoundSecret[] {
    return this.#known.flatMap((secret) => {
      const found: FoundSecret[] = [];
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
        found.push({ start: at, end: at + secret.length, rule: knownSecretRule.id });
      }
      return found;
    });
  }
}

/**
 * How often a pattern repeats something at the most: each round takes room on the stack, and a few million take all of
 * it. What is longer ends where its word does.
 */
const MOST = 100_000;

const rules = secretRules.map(({ id, patterns }) => ({ id, patterns: patterns.map(withLimits) }));

function withLimits({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(/\{(\d+),\}/g, `{$1,${MOST}}`), flags);
}

function byRules(text: string): FoundSecret[] {
  return rules.flatMap(({ id, patterns }) =>
    patterns.flatMap((pattern) =>
      Array.from(text.matchAll(pattern), (match): FoundSecret => {
        const [start, end] = match.indices?.groups?.['secret'] ?? [
          match.index,
          match.index + match[0].length,
        ];
        return { start, end: end - start < MOST ? end : endOfWord(text, end), rule: id };
      }),
    ),
  );
}

function endOfWord(text: string, from: number): number {
  const end = /[\s"'\x60\\]/g;
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}
