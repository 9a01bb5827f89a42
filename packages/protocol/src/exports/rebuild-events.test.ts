import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyResponse, foldResponse, toResponse } from '../folds/response.ts';
import type { Response } from '../response.ts';
import { rebuildEvents } from './rebuild-events.ts';

/** The texts of the deltas of a message that took `ms` milliseconds. */
function deltasOf(content: string, ms: number): string[] {
  const [startedAt, endedAt] = [0, ms].map((at) => new Date(at).toISOString());
  const run: Response = {
    id: 'run',
    turnId: 't',
    sessionId: 's',
    modelId: 'm',
    providerId: 'p',
    status: 'complete',
    finishReason: null,
    lastSeq: 0,
    createdAt: 0,
    updatedAt: ms,
    outputItems: [{ type: 'message', id: 'i', origin: 'agent', content, startedAt, endedAt }],
  };
  return rebuildEvents(run).flatMap(({ payload }) =>
    payload.type === 'item_delta' ? (payload.deltaContent ?? '') : [],
  );
}

/** A second implementation of the rule: easier to check, but quadratic. */
function expected(text: string, ms: number): string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/gu) ?? (text === '' ? [] : [text]);
  const count = Math.max(1, Math.min(Math.floor(ms / 100), 200, words.length));
  const pieces = Array.from({ length: count }, (_, index) =>
    words
      .slice(
        Math.floor((index * words.length) / count),
        Math.floor(((index + 1) * words.length) / count),
      )
      .join(''),
  );
  return pieces.filter((piece) => piece !== '');
}

test('a text is cut into pieces of whole words, and each piece begins with the white space before its words', () => {
  const part = fc.constantFrom(' ', '\n', '\u00a0', 'a', 'word', '😀', '\ud83d', '  \t');
  const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 5_000 }), (content, ms) => {
      expect(deltasOf(content, ms)).toEqual(expected(content, ms));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['blanks', ' '],
  ['words', 'x '],
  ['letters', 'x'],
])('rebuilding 4 MB of %s takes time in proportion to the length', (_name, piece) => {
  const content = piece.repeat(4_000_000 / piece.length);
  // A quadratic algorithm would take hours here.
  expect(deltasOf(content, 60_000).join('')).toBe(content);
});

test('items begin in the order of the run, even if their times are in another order', () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const item = (id: string, from: number, to: number) =>
    ({
      type: 'message',
      id,
      origin: 'agent',
      content: id,
      startedAt: at(from),
      endedAt: at(to),
    }) as const;
  const run: Response = {
    id: 'run',
    turnId: 't',
    sessionId: 's',
    modelId: 'm',
    providerId: 'p',
    status: 'complete',
    finishReason: null,
    lastSeq: 0,
    createdAt: 100,
    updatedAt: 1_000,
    outputItems: [
      item('a', 500, 600),
      item('b', 200, 300),
      item('c', 50, 900),
      item('d', 400, 2_000),
    ],
  };
  const events = rebuildEvents(run);
  const begun = events.flatMap(({ payload }) =>
    payload.type === 'item_start' ? [payload.itemId] : [],
  );
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  const folded = toResponse(events.reduce(foldResponse, emptyResponse()));
  expect(folded?.outputItems.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
});
