import {
  type ApprovalUpsert,
  changedCallFields,
  type FileDiff,
  markHidden,
  type ShownCall,
  type ToolCallUpsert,
} from '@liminal/protocol';
import { structuredPatch } from 'diff';
import { linesOf, oneRow } from './rows.ts';

/** How many unchanged lines are shown around a change. */
const context = 3;
/**
 * The most lines, and the most changed lines, of a comparison. Beyond these limits a comparison would take too long, so
 * the whole text is shown as replaced.
 */
const comparable = { lines: 20_000, changes: 1_000 };

/**
 * Returns the whole content of a permission request as lines without hidden characters: the agent's description, the
 * call with every argument and every file change, and the earlier state of the call if that state differs. `call` is
 * the call's state in the turn; fields of the request override its fields.
 */
export function requestLines(approval: ApprovalUpsert, call: ToolCallUpsert | undefined): string[] {
  const { askedBy, description, title, callId, asked } = approval;
  const intro = [
    ...(askedBy === undefined ? [] : [`${oneRow(askedBy)} asks:`]),
    ...(description === undefined ? [] : linesOf(description)),
  ];
  const shown = asked ?? call;
  if (shown === undefined) {
    return callId === undefined ? intro : [...intro, 'The call itself was not shown by the agent.'];
  }
  // Agents often give the request and its call different titles.
  const { title: named = shown.title, ...changed } = changedCallFields(approval, call) ?? {};
  const isChanged = Object.keys(changed).length > 0;
  return [
    ...intro,
    ...callLines({ ...shown, title: named }, title),
    ...(isChanged ? ['CHANGED. The call itself says:', ...callLines(changed)] : []),
  ];
}

/** Returns the lines of a call, or of some of its fields. Fields that equal the question's title are left out. */
function callLines(call: Partial<ShownCall>, title?: string): string[] {
  const { toolName, title: named, toolArguments = {}, diffs = [] } = call;
  const isNamed = named === undefined || named === title || named === toolName;
  return [
    ...(toolName === undefined || toolName === title ? [] : [`Tool: ${oneRow(toolName)}`]),
    ...(isNamed ? [] : [oneRow(named)]),
    ...Object.entries(toolArguments).flatMap(([name, value]) =>
      argumentLines(name, isWithin(diffs, name, value) ? '(in the change below)' : value),
    ),
    ...locationLines(call).map((place) => oneRow(place)),
    ...diffs.flatMap(diffLines),
  ];
}

/**
 * Whether the argument's value repeats the old or the new text of a change that is shown whole. The argument's name
 * shows which of the two texts is meant.
 */
function isWithin(diffs: readonly FileDiff[], name: string, value: unknown): boolean {
  if (typeof value !== 'string' || !value.includes('\n')) return false;
  const isOld = /^old/i.test(name);
  const sign = isOld ? '-' : '+';
  const lines = linesOf(value.replace(/\n$/, ''));
  return diffs.some(({ oldText, newText, path }) => {
    if (value !== (isOld ? oldText : newText)) return false;
    const shown = diffLines({ path, oldText, newText }).map((line) => line.slice(4));
    const own = shown.filter((line) => line.startsWith(sign) || line.startsWith(' '));
    return own.map((line) => line.slice(1)).join('\n') === lines.join('\n');
  });
}

/** Indents the lines of a long value, so that no line looks like the name of an argument. */
function argumentLines(name: string, value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const [first = '', ...more] = linesOf(text);
  if (more.length === 0) return [`${oneRow(name)}: ${first}`];
  return [`${oneRow(name)}:`, ...[first, ...more].map((line) => `    ${line}`)];
}

/** Returns the locations that occur neither in the arguments nor in the changes. */
function locationLines({
  locations = [],
  toolArguments = {},
  diffs = [],
}: Partial<ShownCall>): string[] {
  const known = new Set<unknown>([
    ...Object.values(toolArguments),
    ...diffs.map(({ path }) => path),
  ]);
  return locations
    .filter(({ path }) => !known.has(path))
    .map(({ path, line }) => `at ${path}${line === undefined ? '' : `:${line}`}`);
}

function diffLines({ path, oldText, newText }: FileDiff): string[] {
  const isNew = oldText === undefined || oldText === null;
  return [
    `${isNew ? 'new file' : 'change of'} ${oneRow(path)}`,
    ...(isNew ? signed('+', newText) : changedLines(oldText, newText)),
  ].map((line, at) => (at === 0 ? line : `    ${line}`));
}

function changedLines(before: string, after: string): string[] {
  const isLong = before.split('\n').length + after.split('\n').length > comparable.lines;
  const patch = isLong
    ? undefined
    : structuredPatch('', '', before, after, '', '', {
        context,
        maxEditLength: comparable.changes,
      });
  if (patch === undefined) return [...signed('-', before), ...signed('+', after)];
  return patch.hunks.flatMap(({ lines, oldStart }) => [
    `from line ${oldStart}`,
    ...lines.map((line) => markHidden(line)),
  ]);
}

const signed = (sign: '+' | '-', text: string): string[] =>
  text === '' ? [] : linesOf(text.replace(/\n$/, '')).map((line) => `${sign}${line}`);
