import { escapeHiddenInJson } from '@liminal/protocol';
import type { Line } from '../transcript.ts';

/** A line for programs: an item's upsert, or the head of an ended turn. */
export function jsonLine(line: Line): string {
  return escapeHiddenInJson(JSON.stringify(valueOf(line)));
}

function valueOf(line: Line): object {
  if (line.kind !== 'turn') return line.item;
  const { items: _, ...head } = line.turn;
  return { type: 'turn', ...head };
}
