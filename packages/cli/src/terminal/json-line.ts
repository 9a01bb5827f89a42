import { escapeHiddenInJson } from '@liminal/protocol';
import type { TranscriptLine } from '../transcript.ts';

/**
 * Returns a line of JSON for programs. The line contains the upsert of an item, or the main fields of a turn that has
 * ended.
 */
export function jsonLine(line: TranscriptLine): string {
  return escapeHiddenInJson(JSON.stringify(lineValue(line)));
}

function lineValue(line: TranscriptLine): object {
  if (line.kind !== 'turn') return line.item;
  const { items: _, ...head } = line.turn;
  return { type: 'turn', ...head };
}
