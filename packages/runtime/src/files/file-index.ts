/**
 * Finds files by a few letters of their names or paths. Liminal has its own code for this, because fuzzysort needs 5 kB
 * of memory for each path (480 MB for 100,000 paths), and uFuzzy does not find letters that are spread over several
 * words.
 */
import type { Listing } from './list-files.ts';

export class FileIndex {
  /** Files, then folders, which end with a slash. */
  readonly #paths: readonly string[];
  readonly #lower: readonly string[];
  readonly #changed: ReadonlySet<string>;
  readonly isWhole: boolean;

  constructor({ files, changed, isWhole }: Listing) {
    this.#paths = [...files, ...foldersOf(files)];
    this.#lower = this.#paths.map((path) => path.toLowerCase());
    this.#changed = new Set(changed);
    this.isWhole = isWhole;
  }

  /**
   * Returns the best matches, best first. An empty query returns changed files, then files and folders at the top
   * level.
   */
  find(query: string, limit: number): string[] {
    const words = query
      .toLowerCase()
      .replace(/^\.\//, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) return this.#firstOnes(limit);
    const best = new Best(limit);
    for (const [index, path] of this.#paths.entries()) {
      const score = this.#score(words, path, this.#lower[index] ?? '');
      if (score !== undefined) best.add(score, path);
    }
    return best.paths;
  }

  #firstOnes(limit: number): string[] {
    const isAtTop = (path: string) => !path.slice(0, -1).includes('/');
    const top = this.#paths.filter(isAtTop).toSorted((a, b) => a.localeCompare(b));
    return [...new Set([...this.#changed, ...top])].slice(0, limit);
  }

  /** Returns how well all words match a path; undefined if a word is not in the path. */
  #score(words: readonly string[], path: string, lower: string): number | undefined {
    const nameAt = lower.lastIndexOf('/', lower.length - 2) + 1;
    let score = 0;
    for (const word of words) {
      const one = scoreWord(word, path, lower, nameAt);
      if (one === undefined) return undefined;
      score += one;
    }
    // Among equal matches, changed files come first, then short paths.
    const bonus = this.#changed.has(path) ? 3 : 0;
    return score + bonus - Math.min(path.length, 250) / 50;
  }
}

/**
 * Returns every folder that contains a file, with a trailing slash. Also returns folders that are listed among the
 * files.
 */
function foldersOf(files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let cut = file.lastIndexOf('/'); cut > 0; cut = file.lastIndexOf('/', cut - 1)) {
      const folder = file.slice(0, cut + 1);
      // The folders above this folder are then already known.
      if (folders.has(folder)) break;
      if (folder !== file) folders.add(folder);
    }
  }
  return [...folders];
}

/**
 * How well a word matches, by position: the file's name scores higher than its folders, and the beginning of a word
 * higher than the rest.
 */
function scoreWord(word: string, path: string, lower: string, nameAt: number): number | undefined {
  const inName = lower.indexOf(word, nameAt);
  if (inName === nameAt) {
    const rest = lower.slice(nameAt + word.length);
    if (rest === '' || rest === '/') return 100;
    return rest.lastIndexOf('.') === 0 ? 95 : 90;
  }
  if (inName > 0) return isStart(path, inName) ? 80 : 70;
  const inPath = lower.indexOf(word);
  if (inPath >= 0) return isStart(path, inPath) ? 60 : 50;
  return scoreSpread(word, path, lower, nameAt, 30) ?? scoreSpread(word, path, lower, 0, 10);
}

/**
 * Scores a word whose letters occur in the path in order, with other letters between them: the fewer other letters,
 * the higher the score.
 */
function scoreSpread(
  word: string,
  path: string,
  lower: string,
  from: number,
  base: number,
): number | undefined {
  let last = from - 1;
  for (const letter of word) {
    last = lower.indexOf(letter, last + 1);
    if (last < 0) return undefined;
  }
  // Searches backwards from the last letter, so that the first letters are as near to the last letter as possible.
  let first = last + 1;
  let starts = 0;
  for (let at = word.length - 1; at >= 0; at--) {
    first = lower.lastIndexOf(word.charAt(at), first - 1);
    if (isStart(path, first)) starts++;
  }
  const between = last - first + 1 - word.length;
  if (between > 4 * word.length) return undefined;
  return base + Math.max(-9, Math.min(9, 2 * starts - between / 2));
}

/** Returns whether a word begins at this index: after a punctuation mark, or with a capital letter. */
function isStart(path: string, at: number): boolean {
  if (at === 0) return true;
  const here = path.charAt(at);
  const before = path.charAt(at - 1);
  if (!/[\p{L}\p{N}]/u.test(before)) return true;
  return here !== here.toLowerCase() && before === before.toLowerCase();
}

/** Keeps only the best of many found paths. */
class Best {
  readonly #limit: number;
  readonly #found: { score: number; path: string }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(score: number, path: string): void {
    const worst = this.#found.at(-1);
    if (this.#found.length >= this.#limit && worst !== undefined && score <= worst.score) return;
    let at = this.#found.length;
    while (at > 0 && (this.#found[at - 1]?.score ?? 0) < score) at--;
    this.#found.splice(at, 0, { score, path });
    if (this.#found.length > this.#limit) this.#found.pop();
  }

  get paths(): string[] {
    return this.#found.map(({ path }) => path);
  }
}
