/**
 * Which rules allow a shell command. A rule of a beginning allows only commands that `readOnlyBeginning` knows to read
 * and nothing else, and only where every part of the command can be seen: this file knows a small piece of the shell's
 * language, and a command with anything else in it is one whole, which only its own rule allows.
 */
import type { Permission } from '../tool.ts';
import { readOnlyBeginning } from './read-only-commands.ts';

/** Words that give the parts after them another meaning, or a part more than one. */
const meaningChangers = new Set(
  '! . [[ alias bg bind break builtin case cd command continue coproc declare disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash if in let local logout mapfile popd pushd read readarray readonly return select set shift shopt source suspend then time trap typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);

/**
 * Returns all that a command needs.
 * @param isPrivate - Whether a command with these words may show what only a person may: then no rule of a beginning
 * allows it.
 */
export function commandPermissions(
  command: string,
  isPrivate: (words: readonly string[]) => boolean = () => false,
): Permission[] {
  const pipelines = splitCommand(command);
  // Parts with the same rule stay apart: what else allows one of them need not allow the other.
  return pipelines?.flatMap((one) => pipelinePermissions(one, isPrivate)) ?? [exactly(command)];
}

/** Whether all that a command does is to read a repository, and to filter what was read. */
export function onlyReads(command: string): boolean {
  const parts = splitCommand(command)?.flatMap((one) => one.parts) ?? [];
  return parts.length > 0 && parts.every((part) => reads(part) || isFilter(part));
}

/** Whether a part of a command is one that a rule of its beginning may allow. */
export function hasReading(command: string): boolean {
  return splitCommand(command)?.some((one) => one.parts.some(reads)) ?? false;
}

interface Word {
  text: string;
  /** Not quoted. */
  isBare: boolean;
}

/** A program with its arguments. */
interface Part {
  /** As it stands in the command. */
  source: string;
  words: Word[];
}

/** One program, or several joined by `|`: each program reads the output of the program before it. */
interface Pipeline {
  source: string;
  parts: Part[];
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

/** `sh` and `xargs rm` do something different with each input: with input, only a filter is allowed by a rule of its own. */
function pipelinePermissions(
  { source, parts }: Pipeline,
  isPrivate: (words: readonly string[]) => boolean,
): Permission[] {
  const areFilters = parts.slice(1).every(isFilter);
  return areFilters ? parts.map((part) => partPermission(part, isPrivate)) : [exactly(source)];
}

const isFilter = ({ words }: Part): boolean => filters.has(words[0]?.text ?? '');

/** The beginning that a rule may name, if the part is one that only reads. */
function beginningOf({ words }: Part): string | undefined {
  const areBare = words.slice(0, 2).every((word) => word.isBare);
  return areBare ? readOnlyBeginning(words.map(({ text }) => text)) : undefined;
}

const reads = (part: Part): boolean => beginningOf(part) !== undefined;

function partPermission(part: Part, isPrivate: (words: readonly string[]) => boolean): Permission {
  const { source, words } = part;
  const exact = exactly(source);
  const isBare = words.every((word) => word.isBare);
  const texts = words.map(({ text }) => text);
  // Rules of older versions were made of any program's first words. Such a rule still allows these words alone.
  const whole = isBare ? [`command:${texts.join(' ')}`] : [];
  const beginning = beginningOf(part);
  if (beginning === undefined) return { ...exact, also: [...whole, 'tool:bash'] };
  // The rule of a beginning is no rule for its two words alone.
  if (isPrivate(texts)) return { ...exact, also: ['tool:bash'] };
  return {
    always: `read-only ${beginning} commands`,
    rule: `command:${beginning}`,
    also: [...whole, exact.rule, 'tool:bash'],
  };
}

/** One step of reading: a word's piece, a space, or what joins two parts. */
const token =
  /(?<bare>[A-Za-z0-9_./:@%+,=-]+)|'(?<single>[^'\p{Cc}]*)'|"(?<double>[^"$`\\!\p{Cc}]*)"|(?<space> +)|(?<joint>&&|\|\||;|\|)/uy;

/** The pipelines of a command; undefined if it has anything in it that is not understood here. */
function splitCommand(command: string): Pipeline[] | undefined {
  const pipelines: Pipeline[] = [];
  let [pipelineStart, partStart, at] = [0, 0, 0];
  let parts: Part[] = [];
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
  return pipelines.every((one) => one.parts.every(isPlain)) ? pipelines : undefined;
}

/** A program, named as it is, with its arguments. */
function isPlain({ words }: Part): boolean {
  const [program, first] = words;
  if (program === undefined || program.text.includes('=')) return false;
  // It sets a variable: `PATH`, perhaps.
  if (program.text === 'printf' && first?.text.startsWith('-v') === true) return false;
  return !meaningChangers.has(program.text);
}
