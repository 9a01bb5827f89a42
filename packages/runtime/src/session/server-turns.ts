/** The contents of turns that the server itself writes. */
import { relative } from 'node:path';
import {
  type ErrorObject,
  type EventPayload,
  type Response,
  type RewindResult,
  serverReasons,
} from '@liminal/protocol';
import { quoted } from './fork-notices.ts';

/** The most files or tasks that a notice lists. */
const namedMax = 20;

/** @param titles - The titles of the ended tasks, as users see them. */
export function tasksNotice(turnId: string, titles: readonly string[]): EventPayload[] {
  const names = titles.slice(0, namedMax).map(quoted);
  if (titles.length > namedMax) names.push(`and ${titles.length - namedMax} more`);
  const content = `The agent’s process has ended, and with it its background tasks: ${names.join('; ')}.`;
  return messageEvents(`${turnId}:tasks`, content, serverReasons.tasksEnded);
}

/** @param run - The turn before which the files, or the conversation, were reset. */
export function rewindNotice(
  turnId: string,
  run: Response,
  rewound: RewindResult,
  projectDir: string,
): EventPayload[] {
  const text = rewindText(run, rewound, projectDir);
  const rewoundTo = rewound.takenBack && run.turnId;
  return messageEvents(`${turnId}:rewind`, text, serverReasons.rewind, rewoundTo);
}

/** Returns the end of an agent's turn that `liminal notify` has reported as complete. */
export function notifiedEnd(turnId: string): EventPayload[] {
  const content =
    'This turn was ended from outside, as complete (liminal notify). Its messages so far are kept; the agent is started again for the next message.';
  return messageEvents(`${turnId}:notified`, content, 'notified');
}

function messageEvents(
  itemId: string,
  content: string,
  finishReason: string,
  rewoundTo?: string,
): EventPayload[] {
  const end = { finishReason, ...(rewoundTo !== undefined && { rewoundTo }) };
  const finalItem = { type: 'message', id: itemId, origin: 'system', content } as const;
  return [
    { type: 'item_start', itemId, itemType: 'message', origin: 'system' },
    { type: 'item_done', itemId, finalItem },
    { type: 'response_done', status: 'completed', ...end },
  ];
}

export const rewindFailure = (error: ErrorObject): EventPayload => ({
  type: 'response_done',
  status: 'error',
  error,
  finishReason: serverReasons.rewind,
});

function rewindText(
  run: Response,
  { files, skipped = 0, takenBack, problem }: RewindResult,
  folder: string,
): string {
  const asked = run.outputItems.find((item) => item.type === 'message' && item.origin === 'user');
  const turn = asked?.type === 'message' ? `“${quoted(asked.content)}”` : 'that turn';
  const names = files.slice(0, namedMax).map((path) => shortName(path, folder));
  if (files.length > namedMax) names.push(`and ${files.length - namedMax} more`);
  const links = skipped === 0 ? '' : ` ${skipped} of them are now links and stay as they are.`;
  const changed =
    files.length === 0
      ? ''
      : `Files were restored to their state before ${turn}: ${names.join(', ')}.${links}`;
  if (takenBack === undefined) {
    return `${changed} The conversation is unchanged, and the agent does not know that files changed. Tell it if it matters.`;
  }
  const { length } = takenBack.turnIds;
  const turns = length === 1 ? 'One turn was' : `${length} turns were`;
  const back = `${turns} taken back, from ${turn} on. The agent continues from before that message.`;
  const unchangedFiles = problem && `The files stay as they are. ${problem}`;
  return [back, changed, unchangedFiles].filter(Boolean).join(' ');
}

function shortName(path: string, folder: string): string {
  const inside = relative(folder, path);
  return inside.startsWith('..') ? path : inside;
}
