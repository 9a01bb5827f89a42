import { escapeHiddenInJson } from '@liminal/protocol';
import type { Line } from '../transcript.ts';

/** For programs: an item as its upsert, or the head of a turn that has ended. */
export function jsonLine(line: Line): string {
  return escapeHiddenInJson(JSON.stringify(valueOf(line)));
}

function valueOf(line: Line): object {
  if (line.kind !== 'turn') return line.item;
  const { items: _, ...head } = line.turn;
  return { type: 'turn', ...head };
}
