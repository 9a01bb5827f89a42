/**
 * The read-only commands that people may allow by their first words. The list has only safe words: a command with a
 * subcommand or option that is not listed needs a rule for exactly this command.
 */

/** The arguments that a subcommand may have. The arguments only change which data is read, or how the data is shown. */
interface Reading {
  /** One-letter options; several of them may follow one dash. */
  letters?: string;
  /** One-letter options that may be followed directly by a number: `-A3`, `-M90%`. */
  numbered?: string;
  /** One-letter options that may be followed directly by a text: `-Sneedle`, `-L1,5:file`. */
  texts?: string;
  /** Whether a number can be an option: `-5`. */
  takesNumber?: boolean;
  /** The full names of options with two dashes; each option may have a value after `=`. */
  names: ReadonlySet<string>;
  /** Whether words without a dash are forbidden, because such words would create something. */
  isWithoutWords?: boolean;
}

const namesIn = (...texts: string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => text.split(/\s+/)).filter((name) => name !== ''));

const diffNames = `
  abbrev binary check color color-moved color-words compact-summary diff-algorithm diff-filter dirstat exit-code
  find-copies find-copies-harder find-renames full-index function-context histogram ignore-all-space ignore-blank-lines
  ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-submodules inter-hunk-context minimal name-only
  name-status no-abbrev no-color no-ext-diff no-patch no-prefix no-relative no-renames no-textconv numstat patch
  patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative shortstat stat summary text unified word-diff
  word-diff-regex`;

const revisionNames = `
  abbrev-commit after all all-match ancestry-path author author-date-order basic-regexp before boundary branches cc
  cherry cherry-mark cherry-pick children committer count date date-order decorate decorate-refs exclude
  extended-regexp first-parent fixed-strings follow format full-history graph grep invert-grep left-only left-right
  max-count max-parents merges min-parents no-abbrev-commit no-decorate no-max-parents no-merges no-min-parents
  no-walk not oneline parents perl-regexp pretty regexp-ignore-case remotes reverse right-only simplify-by-decoration
  since skip source tags topo-order until walk-reflogs`;

const diffLetters = 'abpsuwzRW';
const ofDiff = { letters: diffLetters, numbered: 'CMU', texts: 'GS' };
const ofLog = {
  letters: `${diffLetters}cgimEFP`,
  numbered: 'nCMU',
  texts: 'GLS',
  takesNumber: true,
  names: namesIn(diffNames, revisionNames),
};

/**
 * The table leaves out subcommands that run programs or change something (`config`, `submodule`, `bisect`, `rebase`,
 * `ls-remote`, `fetch`), and the options before a subcommand (`-c`, `-C`). These options are also left out: `--output`
 * writes a file; `-O`, `--open-files-in-pager`, `--ext-diff`, `--textconv` and `--show-signature` start a program;
 * `--no-index`, `--contents` and `-f` read files outside of the repository.
 */
const git: Record<string, Reading> = {
  blame: {
    letters: 'bceflnpstw',
    numbered: 'CM',
    texts: 'L',
    names: namesIn(
      'abbrev color-by-age color-lines date first-parent ignore-rev incremental line-porcelain porcelain reverse root score-debug show-email show-name show-number show-stats since',
    ),
  },
  branch: {
    letters: 'arv',
    names: namesIn('all color ignore-case list no-color remotes show-current verbose'),
    isWithoutWords: true,
  },
  remote: { letters: 'v', names: namesIn('verbose'), isWithoutWords: true },
  tag: { letters: 'l', names: namesIn('color ignore-case list no-color'), isWithoutWords: true },
  'cat-file': { letters: 'epst', names: namesIn() },
  describe: {
    names: namesIn(
      'abbrev all always candidates contains dirty exact-match exclude first-parent long match tags',
    ),
  },
  diff: {
    ...ofDiff,
    names: namesIn(diffNames, 'base cached merge-base ours staged theirs'),
  },
  grep: {
    letters: 'acEFGhHiIlLnopPqrvwWz',
    numbered: 'ABCm',
    texts: 'e',
    takesNumber: true,
    names: namesIn(
      'after-context all-match and basic-regexp before-context break cached color column context count exclude-standard extended-regexp files-with-matches files-without-match fixed-strings full-name function-context heading ignore-case invert-match line-number max-count max-depth name-only no-color no-exclude-standard no-recursive no-textconv not null only-matching or perl-regexp quiet recurse-submodules recursive show-function text threads untracked word-regexp',
    ),
  },
  log: ofLog,
  'ls-files': {
    letters: 'cdikmostuvz',
    texts: 'x',
    names: namesIn(
      'abbrev cached deduplicate deleted directory eol error-unmatch exclude exclude-standard format full-name ignored killed modified no-empty-directory others recurse-submodules stage unmerged with-tree',
    ),
  },
  'ls-tree': {
    letters: 'dlrtz',
    names: namesIn('abbrev format full-name full-tree long name-only name-status object-only'),
  },
  'merge-base': { letters: 'a', names: namesIn('all fork-point independent is-ancestor octopus') },
  'rev-list': { ...ofLog, names: namesIn(revisionNames, 'abbrev objects') },
  'rev-parse': {
    letters: 'q',
    names: namesIn(
      'abbrev-ref absolute-git-dir all branches git-common-dir git-dir is-bare-repository is-inside-git-dir is-inside-work-tree is-shallow-repository quiet remotes short show-cdup show-prefix show-superproject-working-tree show-toplevel symbolic symbolic-full-name tags verify',
    ),
  },
  shortlog: {
    letters: 'cens',
    names: namesIn(revisionNames, 'email group numbered summary'),
  },
  show: ofLog,
  status: {
    letters: 'bsvz',
    texts: 'u',
    names: namesIn(
      'ahead-behind branch column find-renames ignore-submodules ignored long no-ahead-behind no-column no-renames null porcelain renames short show-stash untracked-files verbose',
    ),
  },
};

/** The programs, each with its allowed subcommands. */
const programs: Record<string, Record<string, Reading>> = { git };

/**
 * Returns the beginning of a read-only command (`git grep`): people may allow all read-only commands with that
 * beginning. Returns undefined for all other commands.
 * @param words - The words of the command, without quotes.
 */
export function readOnlyBeginning(words: readonly string[]): string | undefined {
  const [program = '', second = '', ...rest] = words;
  const reading = entry(entry(programs, program) ?? {}, second);
  if (reading === undefined) return undefined;
  // Each word that begins with a dash must be a known option, at any position. So the check need not know whether the
  // program reads a word with a dash as the value of the previous option, or whether a `--` ends the options or is a
  // value.
  const onlyReads = rest.every((word) =>
    word.startsWith('-') ? isOption(word, reading) : isWord(word, reading),
  );
  return onlyReads ? `${program} ${second}` : undefined;
}

const entry = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Rejects paths that lead out of the folder, because outside of a repository git compares and searches any files. */
const isWord = (word: string, { isWithoutWords = false }: Reading): boolean =>
  !isWithoutWords &&
  !startsProgram(word) &&
  !word.startsWith('/') &&
  !/(^|\/)\.\.(\/|$)/.test(word);

/** Finds a format with `%G?`, `%+GG` or a similar part: to show a signature, git starts a program. */
const startsProgram = (word: string): boolean => /%[-+ ]*G/.test(word);

function isOption(word: string, reading: Reading): boolean {
  const { letters = '', numbered = '', texts = '', takesNumber = false, names } = reading;
  if (word === '--') return true;
  if (takesNumber && /^-\d+$/.test(word)) return true;
  const [, name] = /^--([a-z][a-z-]*)(?:=.*)?$/su.exec(word) ?? [];
  if (name !== undefined) return names.has(name) && !startsProgram(word);
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    if (texts.includes(letter)) return true;
    if (numbered.includes(letter)) return /^[\d%]*$/.test(word.slice(at + 1));
    if (!letters.includes(letter)) return false;
  }
  return word !== '-';
}
