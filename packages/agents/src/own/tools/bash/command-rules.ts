/**
 * Finds the rules that allow a shell command. A rule for a command's beginning (`git log`) only allows commands that
 * `readOnlyBeginning` knows to only read, and only if every part of the command is understood. This file understands a small
 * part of the shell's language; a command with anything else in it is not split, and only its own rule allows it.
 */
import type { Permission } from '../tool.ts';
import { readOnlyBeginning } from './read-only-commands.ts';

/** Words that change the meaning of the parts after them, or give a part more than one meaning. */
const meaningChangers = new Set(
  '! . [[ alias bg bind break builtin case cd command continue coproc declare disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash if in let local logout mapfile popd pushd read readarray readonly return select set shift shopt source suspend then time trap typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);

/**
 * Returns all permissions that a command needs.
 * @param isPrivate - Whether a command with these words may show secrets that only a person may see: then no rule for a
 * beginning allows it.
 */
export function commandPermissions(
  command: string,
  isPrivate: (words: readonly string[]) => boolean = () => false,
): Permission[] {
  const pipelines = splitCommand(command);
  // Parts with the same rule are not merged: another rule that allows one of them need not allow the other.
  return pipelines?.flatMap((one) => pipelinePermissions(one, isPrivate)) ?? [exactly(command)];
}

/** Whether a command only reads a repository and filters the output. */
export function onlyReads(command: string): boolean {
  const parts = splitCommand(command)?.flatMap((one) => one.parts) ?? [];
  return parts.length > 0 && parts.every((part) => reads(part) || isFilter(part));
}

/** Whether a rule for a beginning may allow some part of a command. */
export function hasReading(command: string): boolean {
  return splitCommand(command)?.some((one) => one.parts.some(reads)) ?? false;
}

interface Word {
  text: string;
  /** Whether the word is not quoted. */
  isBare: boolean;
}

/** A program with its arguments. */
interface SimpleCommand {
  /** The text in the command. */
  source: string;
  words: Word[];
}

/** One program, or several joined by `|`: each program reads the output of the program before it. */
interface Pipeline {
  source: string;
  parts: SimpleCommand[];
}

/** Programs that print their input, or a part of it. None of their options writes a file or starts a program. */
const filters = new Set(['cat', 'cut', 'grep', 'head', 'nl', 'tail', 'tr', 'wc']);

function exactly(command: string): Permission {
  return {
    always: `exactly this command: ${command}`,
    rule: `exact:${command}`,
    also: ['tool:bash'],
  };
}

/** `sh` and `xargs rm` act differently on each input: only a filter that gets input is allowed by a rule of its own. */
function pipelinePermissions(
  { source, parts }: Pipeline,
  isPrivate: (words: readonly string[]) => boolean,
): Permission[] {
  const areFilters = parts.slice(1).every(isFilter);
  return areFilters ? parts.map((part) => partPermission(part, isPrivate)) : [exactly(source)];
}

const isFilter = ({ words }: SimpleCommand): boolean => filters.has(words[0]?.text ?? '');

/** The beginning for a rule; undefined if the part does not only read. */
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
  // Older versions made rules of any program's first words. Such a rule still allows exactly these words.
  const legacyRules = isBare ? [`command:${texts.join(' ')}`] : [];
  const beginning = beginningOf(part);
  if (beginning === undefined) return { ...exact, also: [...legacyRules, 'tool:bash'] };
  // Leave out `exact.rule`: for a command of only two words it is the rule of the beginning.
  if (isPrivate(texts)) return { ...exact, also: ['tool:bash'] };
  return {
    always: `read-only ${beginning} commands`,
    rule: `command:${beginning}`,
    also: [...legacyRules, exact.rule, 'tool:bash'],
  };
}

/** One token: a piece of a word, spaces, or an operator that joins two parts. */
const token =
  /(?<bare>[A-Za-z0-9_./:@%+,=-]+)|'(?<single>[^'\p{Cc}]*)'|"(?<double>[^"$`\\!\p{Cc}]*)"|(?<space> +)|(?<joint>&&|\|\||;|\|)/uy;

/** The pipelines of a command; undefined if it has anything that is not understood here. */
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

/** Whether a part is a program, called by its plain name, with its arguments. */
function isPlainProgram({ words }: SimpleCommand): boolean {
  const [program, first] = words;
  if (program === undefined || program.text.includes('=')) return false;
  // `printf -v` sets a variable, which may be `PATH`.
  if (program.text === 'printf' && first?.text.startsWith('-v') === true) return false;
  return !meaningChangers.has(program.text);
}
