/**
 * Finds the rules that allow a shell command. A rule for a beginning (`git log`) allows only commands that are
 * read-only by `readOnlyBeginning`, and only if every part of the command is understood. This file understands only a
 * small part of the shell's language. A command with anything else is not split, and only a rule for exactly this
 * command allows it.
 */
import type { Permission } from '../tool.ts';
import { readOnlyBeginning } from './read-only-commands.ts';

/** Words that change the meaning of later parts, or that make a part ambiguous. */
const meaningChangers = new Set(
  '! . [[ alias bg bind break builtin case cd command continue coproc declare disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash if in let local logout mapfile popd pushd read readarray readonly return select set shift shopt source suspend then time trap typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);

/**
 * Returns all permissions that a command needs.
 * @param isPrivate - Returns whether a command with these words may show secrets that only people may see; no rule for
 *   a beginning allows such a command.
 */
export function commandPermissions(
  command: string,
  isPrivate: (words: readonly string[]) => boolean = () => false,
): Permission[] {
  const pipelines = splitCommand(command);
  // Parts with the same rule are not merged, because a more specific rule may allow only one of them.
  return pipelines?.flatMap((one) => pipelinePermissions(one, isPrivate)) ?? [exactly(command)];
}

/** Returns whether a command only reads a repository and filters the output. */
export function onlyReads(command: string): boolean {
  const parts = splitCommand(command)?.flatMap((one) => one.parts) ?? [];
  return parts.length > 0 && parts.every((part) => reads(part) || isFilter(part));
}

/** Returns whether a rule for a beginning could allow a part of the command. */
export function hasReading(command: string): boolean {
  return splitCommand(command)?.some((one) => one.parts.some(reads)) ?? false;
}

interface Word {
  text: string;
  /** Whether the word has no quotes. */
  isBare: boolean;
}

/** A program with its arguments. */
interface SimpleCommand {
  /** The token's text in the command. */
  source: string;
  words: Word[];
}

/** One program, or several programs joined by `|`, each of which reads the output of the previous program. */
interface Pipeline {
  source: string;
  parts: SimpleCommand[];
}

/**
 * Programs that print their input, or parts of their input. None of these programs has an option that writes a file or
 * starts another program.
 */
const filters = new Set(['cat', 'cut', 'grep', 'head', 'nl', 'tail', 'tr', 'wc']);

function exactly(command: string): Permission {
  return {
    always: `exactly this command: ${command}`,
    rule: `exact:${command}`,
    also: ['tool:bash'],
  };
}

/**
 * Returns the permissions that a pipeline needs: one for each program if all programs after the first are filters,
 * otherwise one for exactly this pipeline. What `sh` or `xargs rm` does depends on its input, so only filters get a
 * permission of their own.
 */
function pipelinePermissions(
  { source, parts }: Pipeline,
  isPrivate: (words: readonly string[]) => boolean,
): Permission[] {
  const areFilters = parts.slice(1).every(isFilter);
  return areFilters ? parts.map((part) => partPermission(part, isPrivate)) : [exactly(source)];
}

const isFilter = ({ words }: SimpleCommand): boolean => filters.has(words[0]?.text ?? '');

/** Returns the beginning that a rule can name; undefined if the part is not read-only. */
function beginningOf({ words }: SimpleCommand): string | undefined {
  const areBare = words.slice(0, 2).every((word) => word.isBare);
  return areBare ? readOnlyBeginning(words.map(({ text }) => text)) : undefined;
}

const reads = (part: SimpleCommand): boolean => beginningOf(part) !== undefined;

function partPermission(
  part: SimpleCommand,
  isPrivate: (words: readonly string[]) => boolean,
): Permission {
  const { source, words } = part;
  const exact = exactly(source);
  const isBare = words.every((word) => word.isBare);
  const texts = words.map(({ text }) => text);
  // Older versions made rules from the first words of any program. A rule that was stored then still allows exactly
  // these words.
  const legacyRules = isBare ? [`command:${texts.join(' ')}`] : [];
  const beginning = beginningOf(part);
  if (beginning === undefined) return { ...exact, also: [...legacyRules, 'tool:bash'] };
  // `exact.rule` is left out, because, for a command of only two words, this rule equals the rule for the beginning.
  if (isPrivate(texts)) return { ...exact, also: ['tool:bash'] };
  return {
    always: `read-only ${beginning} commands`,
    rule: `command:${beginning}`,
    also: [...legacyRules, exact.rule, 'tool:bash'],
  };
}

/** One token: a piece of a word, spaces, or an operator between two parts. */
const token =
  /(?<bare>[A-Za-z0-9_./:@%+,=-]+)|'(?<single>[^'\p{Cc}]*)'|"(?<double>[^"$`\\!\p{Cc}]*)"|(?<space> +)|(?<joint>&&|\|\||;|\|)/uy;

/** Returns the pipelines of a command; undefined if the command has syntax that is not understood here. */
function splitCommand(command: string): Pipeline[] | undefined {
  const pipelines: Pipeline[] = [];
  let [pipelineStart, partStart, at] = [0, 0, 0];
  let parts: SimpleCommand[] = [];
  let words: Word[] = [];
  let word: Word | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endPart = (joint: string): void => {
    endWord();
    parts.push({ source: command.slice(partStart, at).trim(), words });
    words = [];
    partStart = at + joint.length;
    if (joint === '|') return;
    pipelines.push({ source: command.slice(pipelineStart, at).trim(), parts });
    parts = [];
    pipelineStart = partStart;
  };
  while (at < command.length) {
    token.lastIndex = at;
    const { groups = {}, 0: found = '' } = token.exec(command) ?? {};
    if (found === '') return undefined;
    const text = groups['bare'] ?? groups['single'] ?? groups['double'];
    if (groups['joint'] !== undefined) endPart(found);
    else if (text === undefined) endWord();
    else {
      const isBare = groups['bare'] !== undefined;
      word = { text: (word?.text ?? '') + text, isBare: isBare && (word?.isBare ?? true) };
    }
    at += found.length;
  }
  endPart('');
  return pipelines.every((one) => one.parts.every(isPlainProgram)) ? pipelines : undefined;
}

/** Returns whether a part is a program with arguments, and the program is called by its plain name. */
function isPlainProgram({ words }: SimpleCommand): boolean {
  const [program, first] = words;
  if (program === undefined || program.text.includes('=')) return false;
  // `printf -v` sets a variable, and the variable may be `PATH`.
  if (program.text === 'printf' && first?.text.startsWith('-v') === true) return false;
  return !meaningChangers.has(program.text);
}
