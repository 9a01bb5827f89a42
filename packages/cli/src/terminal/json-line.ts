import { escapeHiddenInJson } from '@liminal/protocol';
import type { TranscriptLine } from '../transcript.ts';

/** A line for programs: an item's upsert, or the head of an ended turn. */
export function jsonLine(line: TranscriptLine): string {
  return escapeHiddenInJson(JSON.stringify(lineValue(line)));
}

function lineValue(line: TranscriptLine): object {
  if (line.kind !== 'turn') return line.item;
  const { items: _, ...head } = line.turn;
  return { type: 'turn', ...head };
}
