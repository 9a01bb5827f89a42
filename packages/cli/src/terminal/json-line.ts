import type { Line } from '../transcript.ts';

/** For programs: an item as its upsert, and a turn's head once it has ended. */
export function jsonLine(line: Line): string {
  if (line.kind !== 'turn') return JSON.stringify(line.item);
  const { items: _, ...head } = line.turn;
  return JSON.stringify({ type: 'turn', ...head });
}
