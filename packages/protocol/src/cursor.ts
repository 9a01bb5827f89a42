/** A reader's position in a session: the last event that it has received. Opaque on the wire. */

export interface Position {
  runId: string;
  seq: number;
}

export function encodeCursor(position: Position): string {
  return `${position.runId}:${position.seq}`;
}

/** Returns undefined for a value that is not from `encodeCursor`; the reader then gets a snapshot (invariant 7). */
export function decodeCursor(cursor: string): Position | undefined {
  const match = /^(.+):(\d{1,15})$/.exec(cursor);
  if (!match) return undefined;
  const [, runId, seq] = match;
  return runId === undefined || seq === undefined ? undefined : { runId, seq: Number(seq) };
}
