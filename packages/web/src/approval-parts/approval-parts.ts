import {
  type ApprovalUpsert,
  changedCallFields,
  type FileDiff,
  type ShownCall,
  type ToolLocation,
} from '@liminal/protocol';
import { lineDiff } from '../diff/line-diff.ts';
import type { WaitingRequest } from '../session/waiting.ts';
import { asksSomething } from '../transcript/answering.ts';
import { shortPath } from '../words/paths.ts';
import { commandOf, commandWords, isQuestion, toolWords } from '../transcript/tool-words.ts';

/**
 * The kinds of parts of a waiting request, in the order in which they are shown. Nothing can be allowed before the end
 * of each part has been on the screen.
 */
export const partKinds = [
  'askedBy',
  'title',
  'description',
  'files',
  'diffs',
  'command',
  'plan',
  'arguments',
  'changed',
  'form',
] as const;
export type PartKind = (typeof partKinds)[number];

/** The content of each part, by the part's kind. */
export interface PartContent {
  /** Who asks, if another than the agent itself asks. */
  askedBy: string;
  title: string;
  description: string;
  files: readonly ToolLocation[];
  diffs: readonly FileDiff[];
  command: string;
  plan: string;
  arguments: readonly Argument[];
  /** The call's earlier values, where they differ from the request's values. */
  changed: Partial<ShownCall>;
  form: true;
}

/** An argument of a call; `word` replaces the argument's name on the page, if there is such a word. */
export type Argument = readonly [name: string, value: unknown, word?: string];

export type ApprovalPart = {
  [K in PartKind]: { readonly kind: K; readonly content: PartContent[K] };
}[PartKind];

/**
 * Returns the call that a request is about, as the request describes it; if the request does not describe the call, the
 * call itself. Returns undefined if the call is a question with a form, because the form explains itself.
 */
function askedCall({ approval, call }: WaitingRequest): ShownCall | undefined {
  const asked = approval.asked ?? call;
  return asked !== undefined && isQuestion(asked) && asksSomething(approval) ? undefined : asked;
}

/** The length of the longest title that fits into a line, in characters. */
export const oneLine = 60;

/** The line above a request if the request asks a question. */
export const question = 'Question';

/** Returns the line above a request. */
export function requestTitle(request: WaitingRequest, folder: string | undefined): string {
  const { approval } = request;
  const asked = askedCall(request);
  if (asked !== undefined) {
    const { verb, subject } = toolWords(asked, folder);
    // The line need not contain the command, because the whole command is shown below the line.
    if (commandOf(asked) !== undefined) return `${verb} a command`;
    return `${verb} ${subject}`.trim();
  }
  const asks = asksSomething(approval);
  const isLong = asks || approval.title.length > oneLine || approval.title.includes('\n');
  if (isLong) return asks ? question : 'Permission';
  return approval.title;
}

/** Returns the parts of a request. Together, the parts show everything that the person decides about. */
export function approvalParts(request: WaitingRequest, folder: string | undefined): ApprovalPart[] {
  const { approval, call } = request;
  const asked = askedCall(request);
  const files = asked && filesOf(asked);
  const content: { [K in PartKind]: PartContent[K] | undefined } = {
    askedBy: approval.askedBy || undefined,
    title: isTitleShown(request, asked, folder) ? undefined : approval.title,
    description: descriptionOf(approval, files, folder),
    files,
    diffs: asked?.diffs?.length ? asked.diffs : undefined,
    command: asked && commandOf(asked),
    plan: asked && planOf(asked),
    arguments: asked && remainingArguments(asked),
    changed: asked && changedCallFields(approval, call),
    form: hasForm(approval) || undefined,
  };
  return partKinds.flatMap((kind) =>
    content[kind] === undefined ? [] : [{ kind, content: content[kind] } as ApprovalPart],
  );
}

/** Whether the line above a request, or its command, already contains the whole title. */
function isTitleShown(
  request: WaitingRequest,
  asked: ShownCall | undefined,
  folder: string | undefined,
): boolean {
  const { title } = request.approval;
  const head = requestTitle(request, folder);
  if (title === head && head.length <= oneLine) return true;
  if (asked === undefined) return false;
  const { verb, subject } = toolWords(asked, folder);
  // For example, the title is “Edit a.ts”, and the line above shows “Write a.ts”.
  const isNamed = title === `${asked.toolName} ${subject}` && head === `${verb} ${subject}`;
  if (isNamed && head.length <= oneLine) return true;
  const command = commandOf(asked);
  if (command === undefined) return false;
  return [command, `${verb} ${command}`].some((shown) => inOneLine(shown) === inOneLine(title));
}

/**
 * Returns the request's description. Returns undefined if the description only contains the name of a file that is
 * shown as a link.
 */
function descriptionOf(
  { description }: ApprovalUpsert,
  files: readonly ToolLocation[] | undefined,
  folder: string | undefined,
): string | undefined {
  const isFile = files?.some(
    ({ path }) => description === path || description === shortPath(path, folder),
  );
  return description === '' || isFile === true ? undefined : description;
}

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether the request has a form to show. Such a form may consist of only a title or a description. */
function hasForm(approval: ApprovalUpsert): boolean {
  const { form, title } = approval;
  return asksSomething(approval) || Boolean(form?.description) || (form?.title ?? title) !== title;
}

/** Returns the files of a call, without duplicate positions. */
function filesOf({ locations = [], diffs = [] }: ShownCall): ToolLocation[] | undefined {
  const places = new Map(
    locations.map(({ path, line }) =>
      line === undefined ? [path, { path }] : [`${path}:${line}`, { path, line }],
    ),
  );
  const known = new Set(locations.map(({ path }) => path));
  for (const { path } of diffs) if (!known.has(path)) places.set(path, { path });
  return places.size === 0 ? undefined : [...places.values()];
}

function planOf({ kind, toolArguments: { plan } }: ShownCall): string | undefined {
  return kind === 'switch_mode' && typeof plan === 'string' && plan !== '' ? plan : undefined;
}

/** Returns whether other parts show the text of the argument with this name. */
type ShownPredicate = (name: string, text: string) => boolean;

/** Returns the arguments that no other part shows. */
function remainingArguments(asked: ShownCall): Argument[] | undefined {
  const left = withoutShown(asked.toolArguments, '', shownElsewhere(asked));
  const rest = Object.entries(left ?? {});
  if (rest.length === 0) return undefined;
  if (commandOf(asked) === undefined) return rest;
  return rest.map(([name, value]) => {
    const word = Object.hasOwn(commandArguments, name) ? commandArguments[name] : undefined;
    return word === undefined ? [name, value] : [name, value, word];
  });
}

/** Words that replace the names of arguments of agents' tools that run commands. Any other name is shown as it is. */
const commandArguments: Partial<Record<string, string>> = {
  description: 'Purpose',
  run_in_background: 'In the background',
};

/**
 * Matches the names of arguments that a change already shows: its file, its whole text, its old or new text, its diff.
 */
const fileName = /^(?:path|file_?path|notebook_path|file)$/i;
const wholeName = /^(?:content|file_text|new_?source)$/i;
const pieceName = /^(old|new)_?(?:string|text)$/i;
const diffName = /^(?:diff|patch)$/i;

/**
 * Returns a predicate that compares both names and texts, because another argument may have the same text with another
 * meaning.
 */
function shownElsewhere(asked: ShownCall): ShownPredicate {
  const { diffs = [], locations = [] } = asked;
  const commands = new Set(commandWords(asked));
  const files = new Set([...locations, ...diffs].map(({ path }) => path));
  const changes = diffs.map((diff) => ({
    old: sideOf(diff, 'added'),
    new: sideOf(diff, 'removed'),
  }));
  return (name, text) => {
    if (name === 'command') return commands.has(text);
    if (name === 'plan') return text === planOf(asked);
    if (fileName.test(name)) return files.has(text);
    if (text === '') return false;
    const lines = linesIn(text);
    if (wholeName.test(name)) return changes.some((change) => change.new === lines);
    const [, side] = pieceName.exec(name) ?? [];
    if (side !== undefined) {
      const isOld = side.toLowerCase() === 'old';
      return changes.some((change) => (isOld ? change.old : change.new).includes(lines));
    }
    return diffName.test(name) && changes.some((change) => isDiffOf(change, text));
  };
}

/** The old and the new lines of a change, in the format of `linesIn`. `gap` replaces omitted unchanged lines. */
interface Sides {
  old: string;
  new: string;
}

/** Replaces omitted unchanged lines, so that no text matches across the gap. */
const gap = '\0';

const sideOf = (diff: FileDiff, without: 'added' | 'removed'): string =>
  lineDiff(diff)
    .lines.filter(({ kind }) => kind !== without)
    .map(({ kind, text }) => (kind === 'gap' ? gap : `\n${text}\n`))
    .join('');

/** Returns the text with each line between two line breaks, so that only whole lines match. */
const linesIn = (text: string): string =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `\n${line}\n`)
    .join('');

/** Whether a text (a diff, or the whole text of a created or deleted file) contains nothing except this change. */
function isDiffOf(change: Sides, text: string): boolean {
  if (!text.startsWith('@@ ')) {
    const lines = linesIn(text);
    return (
      (change.new === lines && change.old === '') || (change.old === lines && change.new === '')
    );
  }
  const hunks = text.replace(/\n$/, '').split(/^@@[-+, \d]*@@$/m);
  return hunks.slice(1).every((hunk) => {
    const rows = hunk
      .split('\n')
      .slice(1)
      .filter((row) => row !== '\\ No newline at end of file' && row !== '');
    const side = (sign: string): string =>
      rows
        .flatMap((row) => (row[0] === sign || row[0] === ' ' ? `\n${row.slice(1)}\n` : []))
        .join('');
    const isRow = rows.every((row) => /^[-+ ]/.test(row));
    return isRow && change.old.includes(side('-')) && change.new.includes(side('+'));
  });
}

/**
 * Returns the value of the argument or field `name` without the texts that other parts show; undefined if nothing is
 * left.
 */
function withoutShown(value: unknown, name: string, isShown: ShownPredicate): unknown {
  if (typeof value === 'string') return isShown(name, value) ? undefined : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const left = value
      .map((one) => withoutShown(one, name, isShown))
      .filter((one) => one !== undefined);
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  const fields = Object.entries(value);
  const left = fields
    .map(([key, one]) => [key, withoutShown(one, key, isShown)] as const)
    .filter(([, one]) => one !== undefined);
  return left.length === 0 && fields.length > 0 ? undefined : Object.fromEntries(left);
}
