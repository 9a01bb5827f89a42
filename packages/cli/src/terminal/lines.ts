/** Turns a session's items into lines for a terminal. */
import { continuationNote, type JoinedTurn, stopReason } from '@liminal/client';
import { markHidden, type UpsertObject } from '@liminal/protocol';
import type { TranscriptLine } from '../transcript.ts';
import { linesOf, mark, oneRow, withMarkedRows } from './rows.ts';

type Of<T extends UpsertObject['type']> = Extract<UpsertObject, { type: T }>;

/** Length limit of short texts, in characters. */
const brief = 100;
const planMarks = { pending: '[ ]', in_progress: '[>]', completed: '[x]' };

/**
 * Returns no lines for items that are not shown. In a text of several rows, each row after the first is marked, so that
 * a text cannot look like another item.
 */
export function formatLine(line: TranscriptLine): string {
  switch (line.kind) {
    case 'item':
      return formatItem(line.item);
    case 'approval':
      return `${formatQuestion(line.item)} (waits for an answer)`;
    case 'turn':
      return withMarkedRows(formatTurn(line.turn));
  }
}

/** Returns the question of a request, after the name of the subagent that asks and the agent's description. */
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
      return withMarkedRows(
        `! ${item.errorMessage ?? item.errorCode ?? 'The agent gave no reason.'}`,
      );
  }
}

/** Reports the delivery of a message only if the agent has not read the message. */
function deliveryOf({ delivery }: Of<'message'>): string {
  return delivery === 'not_taken' ? ' (not read: the turn ended first)' : '';
}

function formatTool(item: Of<'tool_call'>): string {
  // A script gets no line, because the call that runs the script has a line.
  if (isScript(item)) return '';
  const failed = item.status === 'error' || item.toolOutputIsError === true;
  const what = item.title ?? `${item.toolName} ${JSON.stringify(item.toolArguments)}`;
  const why = failed ? ` failed: ${shorten(item.errorMessage ?? item.toolOutput ?? '')}` : '';
  return `* ${shorten(markHidden(what))}${tookOf(item)}${why}`;
}

/** The time that the agent reports, if the tool ran for at least a second. */
function tookOf({ durationMs = 0 }: Of<'tool_call'>): string {
  return durationMs < 1000 ? '' : ` (${Math.round(durationMs / 1000)} s)`;
}

/** Whether a tool call is a script that another call runs: its call id equals its item id, and it has a parent call. */
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
  const { status, error, continuedBy } = turn;
  if (continuedBy !== undefined) return withMark(continuationNote(turn));
  if (status === 'aborted') return '! The turn was stopped.';
  if (status === 'error') return `! The turn failed: ${error?.message ?? 'no reason was given'}`;
  const reason = stopReason(turn);
  return withMark(reason && `${reason}.`);
}

const withMark = (sentence: string | undefined): string =>
  sentence === undefined ? '' : `! ${sentence}`;

/** Returns the text on one line, shortened to the length limit. */
export function shorten(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  if (line.length <= brief) return line;
  // Do not cut a surrogate pair.
  return `${line.slice(0, brief - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
