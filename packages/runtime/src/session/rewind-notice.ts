/** The events of a turn in which nothing was said, and files were changed back. */
import { relative } from 'node:path';
import type { ErrorObject, EventPayload, Response, RewindResult } from '@liminal/protocol';
import { quoted } from './fork-notices.ts';

/** How a turn ends in which files were changed back: no agent knows of it. */
export const rewindReason = 'rewind';
/** How many files are named. */
const namedMax = 20;

/** @param run - The turn before which the files were as they are now. */
export function rewindNotice(
  turnId: string,
  run: Response,
  rewound: RewindResult,
  projectDir: string,
): EventPayload[] {
  const itemId = `${turnId}:rewind`;
  const content = sentences(run, rewound, projectDir);
  const finalItem = { type: 'message', id: itemId, origin: 'system', content } as const;
  return [
    { type: 'item_start', itemId, itemType: 'message', origin: 'system' },
    { type: 'item_done', itemId, finalItem },
    { type: 'response_done', status: 'completed', finishReason: rewindReason },
  ];
}

export const rewindFailure = (error: ErrorObject): EventPayload => ({
  type: 'response_done',
  status: 'error',
  error,
  finishReason: rewindReason,
});

function sentences(run: Response, { files, skipped = 0 }: RewindResult, folder: string): string {
  const asked = run.outputItems.find((item) => item.type === 'message' && item.origin === 'user');
  const turn = asked?.type === 'message' ? `“${quoted(asked.content)}”` : 'that turn';
  const names = files.slice(0, namedMax).map((path) => shortName(path, folder));
  if (files.length > namedMax) names.push(`and ${files.length - namedMax} more`);
  const links = skipped === 0 ? '' : ` ${skipped} of them stay as they are: they are links now.`;
  return `Files were changed back to how they were before ${turn}: ${names.join(', ')}.${links} What was said since stays, and the agent does not know of this: tell it what it needs.`;
}

function shortName(path: string, folder: string): string {
  const inside = relative(folder, path);
  return inside.startsWith('..') ? path : inside;
}
