/** A session's items as lines for a terminal. */
import { goesOnWords, type JoinedTurn, stopReason } from '@liminal/client';
import { markHidden, type UpsertObject } from '@liminal/protocol';
import type { Line } from '../transcript.ts';
import { linesOf, mark, oneRow, withMarkedRows } from './rows.ts';

type Of<T extends UpsertObject['type']> = Extract<UpsertObject, { type: T }>;

/** Length limit of short mentions (characters). */
const brief = 100;
const planMarks = { pending: '[ ]', in_progress: '[>]', completed: '[x]' };

/**
 * Empty for items that a reader of lines need not see. Further rows of a text are marked, so that it cannot contain what
 * looks like another item.
 */
export function formatLine(line: Line): string {
  switch (line.kind) {
    case 'item':
      return formatItem(line.item);
    case 'approval':
      return `${formatQuestion(line.item)} (waits for an answer)`;
    case 'turn':
      return withMarkedRows(formatTurn(line.turn));
  }
}

/** The question, below who asks and the agent's description. */
function formatQuestion({ title, askedBy, description }: Of<'approval'>): string {
  const about = [askedBy && `${oneRow(askedBy)} asks:`, description]
    .filter((text) => text !== undefined)
    .flatMap((text) => linesOf(text).map((line) => mark + line));
  return [...about, `? ${oneRow(title)}`].join('\n');
}

function formatItem(item: UpsertObject): string {
  switch (item.type) {
    case 'message': {
      const isUser = item.origin === 'user';
      return withMarkedRows(isUser ? `> ${item.content}${deliveryOf(item)}` : item.content);
    }
    case 'thinking':
      return item.content === '' ? '' : `~ ${shorten(item.content)}`;
    case 'tool_call':
      return formatTool(item);
    case 'plan':
      return item.entries
        .map((entry) => withMarkedRows(`${planMarks[entry.status]} ${entry.content}`))
        .join('\n');
    case 'file_changes':
      return formatChanges(item);
    case 'approval':
      return oneRow(`? ${item.title}: ${formatOutcome(item)}`);
    case 'error':
      return withMarkedRows(`! ${item.errorMessage ?? item.errorCode ?? 'Something went wrong.'}`);
  }
}

/** Says it only where a person must know: the agent has not read the message. */
function deliveryOf({ delivery }: Of<'message'>): string {
  return delivery === 'not_taken' ? ' (not read: the turn ended first)' : '';
}

function formatTool(item: Of<'tool_call'>): string {
  // The call that runs it says so.
  if (isScript(item)) return '';
  const failed = item.status === 'error' || item.toolOutputIsError === true;
  const what = item.title ?? `${item.toolName} ${JSON.stringify(item.toolArguments)}`;
  const why = failed ? ` failed: ${shorten(item.errorMessage ?? item.toolOutput ?? '')}` : '';
  return `* ${shorten(markHidden(what))}${why}`;
}

/** Whether it is what a call runs: its id is that of its item, and it has a call above it. */
const isScript = ({ toolName, callId, itemId, parentCallId }: Of<'tool_call'>): boolean =>
  toolName === 'script' && callId === itemId && parentCallId !== undefined;

function formatChanges({ diffs }: Of<'file_changes'>): string {
  const paths = [...new Set(diffs.map(({ path }) => path))];
  if (paths.length === 0) return '';
  const files = paths.length === 1 ? '1 file' : `${paths.length} files`;
  return `= ${files} changed: ${shorten(markHidden(paths.join(', ')))}`;
}

function formatOutcome({ outcome, options }: Of<'approval'>): string {
  if (outcome?.outcome !== 'selected') return outcome?.reason ?? 'nobody answered';
  const { optionId, note } = outcome;
  const name = options.find((option) => option.optionId === optionId)?.name ?? optionId;
  return note === undefined ? name : `${name}: ${shorten(markHidden(note))}`;
}

function formatTurn(turn: JoinedTurn): string {
  const { status, error, goesOnIn } = turn;
  if (goesOnIn !== undefined) return withMark(goesOnWords(turn));
  if (status === 'aborted') return '! The turn was stopped.';
  if (status === 'error') return `! The turn failed: ${error?.message ?? 'nobody said why'}`;
  const reason = stopReason(turn);
  return withMark(reason && `${reason}.`);
}

const withMark = (sentence: string | undefined): string =>
  sentence === undefined ? '' : `! ${sentence}`;

/** One line of it, not too long. */
export function shorten(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  if (line.length <= brief) return line;
  // Without half a surrogate pair at the end.
  return `${line.slice(0, brief - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
