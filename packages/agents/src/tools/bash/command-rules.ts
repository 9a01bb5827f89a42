/**
 * What rules allow a shell command. A rule of its beginning is safe only for a command whose every part can be seen: so
 * this knows a small piece of the shell's language, and whatever lies outside of that is one whole, which only itself
 * allows.
 */
import type { Permission } from '../tool.ts';

/** Programs whose second word says what they do: what begins with the same two is the same kind of work. */
const withSubcommands = new Set(
  'apt brew bun bundle cargo composer deno docker dotnet flutter gem gh git go gradle helm just kubectl make mix mvn nix npm npx nx pdm pip pip3 pipenv pnpm poetry rails rake rustup swift terraform turbo uv yarn'.split(
    ' ',
  ),
);
/** Their third word says it. */
const runs = new Set(['run', 'run-script', 'compose', 'tool']);
/** What comes after these is another program. */
const runsOthers = new Set(['exec', 'x', 'dlx', 'eval', 'sh', 'shell', 'ssh', 'alias']);

/** Words that give the parts after them another meaning, or a part more than one. */
const meaningChangers = new Set(
  '! . [[ alias bg break builtin case cd command continue coproc declare disown do done elif else enable esac eval exec exit export fc fg fi for function hash if in let local mapfile popd pushd read readarray readonly return select set shift shopt source then time trap typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);

/** All that a command needs. */
export function commandPermissions(command: string): Permission[] {
  const parts = splitCommand(command);
  // Parts with the same rule stay apart: what else allows one of them need not allow the other.
  return parts?.map(partPermission) ?? [exactly(command)];
}

interface Word {
  text: string;
  /** Not quoted. */
  isBare: boolean;
}

interface Part {
  /** As it stands in the command. */
  source: string;
  words: Word[];
}

function exactly(command: string): Permission {
  return {
    always: `exactly this command: ${command}`,
    rule: `exact:${command}`,
    also: ['tool:bash'],
  };
}

function partPermission({ source, words }: Part): Permission {
  const quotedAt = words.findIndex(({ isBare }) => !isBare);
  const bare = words.slice(0, quotedAt < 0 ? undefined : quotedAt).map(({ text }) => text);
  const beginnings = bare.map((_, at) => `command:${bare.slice(0, at + 1).join(' ')}`);
  const exact = exactly(source);
  const offered = offeredWords(bare);
  if (offered === undefined) return { ...exact, also: [...beginnings, 'tool:bash'] };
  const rule = `command:${offered.join(' ')}`;
  return {
    always: `commands that begin with ${offered.join(' ')}`,
    rule,
    also: [...beginnings.filter((one) => one !== rule), exact.rule, 'tool:bash'],
  };
}

/** The beginning that people are offered to allow; undefined where it would say too little of what is done. */
function offeredWords(bare: readonly string[]): string[] | undefined {
  const [program = '', second = '', third = ''] = bare;
  const isName = (word: string): boolean => /^[a-z][a-z0-9:_-]*$/i.test(word);
  if (!withSubcommands.has(program) || !isName(second) || runsOthers.has(second)) return undefined;
  if (!runs.has(second)) return [program, second];
  return isName(third) && !runsOthers.has(third) ? [program, second, third] : undefined;
}

/** One step of reading: a word's piece, a space, or what joins two parts. */
const token =
  /(?<bare>[A-Za-z0-9_./:@%+,=-]+)|'(?<single>[^'\p{Cc}]*)'|"(?<double>[^"$`\\!\p{Cc}]*)"|(?<space> +)|(?<joint>&&|\|\||;|\|)/uy;

/** The parts of a command; undefined if it has anything in it that is not understood here. */
function splitCommand(command: string): Part[] | undefined {
  const parts: Part[] = [];
  let [start, at] = [0, 0];
  let words: Word[] = [];
  let word: Word | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endPart = (end: number): void => {
    endWord();
    parts.push({ source: command.slice(start, end).trim(), words });
    words = [];
  };
  while (at < command.length) {
    token.lastIndex = at;
    const { groups = {}, 0: found = '' } = token.exec(command) ?? {};
    if (found === '') return undefined;
    const text = groups['bare'] ?? groups['single'] ?? groups['double'];
    if (groups['joint'] !== undefined) {
      endPart(at);
      start = at + found.length;
    } else if (text === undefined) endWord();
    else {
      const isBare = groups['bare'] !== undefined;
      word = { text: (word?.text ?? '') + text, isBare: isBare && (word?.isBare ?? true) };
    }
    at += found.length;
  }
  endPart(at);
  return parts.every(isPlain) ? parts : undefined;
}

/** A program, named as it is, with its arguments. */
function isPlain({ words }: Part): boolean {
  const [program] = words;
  return program !== undefined && !program.text.includes('=') && !meaningChangers.has(program.text);
}
