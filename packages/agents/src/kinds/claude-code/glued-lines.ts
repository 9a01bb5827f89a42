/** Reads lines of JSON objects that a crash has cut or that two writers have joined. */

/** How often parsing is tried in one broken line. */
const mostTries = 200;
/** The beginning of one of Claude Code's entries. */
const beginning = /\{"(?:parentUuid|logicalParentUuid|isSidechain|type|uuid|sessionId)":/g;

/** A piece of a line: a parsed object, or the number of characters that could not be parsed. */
export type LinePiece = { value: unknown } | { unreadable: number };

/** Returns the pieces of a line, in order. */
export function readGlued(line: string): LinePiece[] {
  if (line.trim() === '') return [];
  const parsed = parse(line);
  if (parsed !== undefined) return [{ value: parsed }];
  const starts = [...line.matchAll(beginning)].map(({ index }) => index).slice(0, mostTries);
  const pieces: LinePiece[] = [];
  let tries = 0;
  let until = 0;
  const skipTo = (place: number): void => {
    if (place > until) pieces.push({ unreadable: place - until });
  };
  for (const [place, start] of starts.entries()) {
    if (start < until) continue;
    // Try the rest of the line first, then ever shorter pieces.
    for (const end of [line.length, ...starts.slice(place + 1).toReversed()]) {
      if ((tries += 1) > mostTries) break;
      const value = parse(line.slice(start, end));
      if (!isEntry(value)) continue;
      skipTo(start);
      pieces.push({ value });
      until = end;
      break;
    }
  }
  skipTo(line.length);
  return pieces;
}

/** Returns whether an object is an entry. A block of a message is an object, but not an entry. */
const isEntry = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('uuid' in value || 'sessionId' in value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
