import {
  type ChangedFile,
  changedFileNotes,
  escapeHiddenInJson,
  markHidden,
  type SessionDiff,
  sessionDiffNotes,
} from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface DiffFlags {
  json?: boolean;
  stat?: boolean;
}

/** Prints the differences between a session's work tree and its last commit. */
export async function diff(sessionId: string, flags: DiffFlags, config: Config): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  try {
    const found = await client.requests.diff(sessionId);
    if (flags.json === true) console.log(escapeHiddenInJson(JSON.stringify(found)));
    else for (const row of diffRows(found, flags.stat === true)) console.log(row);
    return 0;
  } finally {
    await close();
  }
}

function diffRows(found: SessionDiff, isStat: boolean): string[] {
  return [
    ...sessionDiffNotes(found).map(oneRow),
    ...found.files.flatMap((file) => [
      ...(isStat ? [] : ['']),
      fileHeading(file),
      ...(isStat ? [] : fileRows(file)),
    ]),
  ];
}

/** Returns a row with the kind of change, the file's path, and the numbers of added and removed lines. */
function fileHeading({ change, path, oldPath, added, removed }: ChangedFile): string {
  const name = oldPath === undefined ? path : `${oldPath} → ${path}`;
  const counts = added === undefined ? '' : `  +${added} -${removed}`;
  return `${change.padEnd(9)}  ${oneRow(name)}${counts}`;
}

/** Indents each row, so that no line of a file looks like the heading of another file. */
function fileRows(file: ChangedFile): string[] {
  return [
    ...changedFileNotes(file).map(oneRow),
    ...file.hunks.flatMap(({ oldStart, newStart, lines }) => [
      `@@ -${oldStart} +${newStart} @@`,
      ...lines.map((line) => markHidden(line)),
    ]),
  ].map((row) => `  ${row}`);
}
