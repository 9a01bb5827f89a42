import fc from 'fast-check';
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { type AnswerBound, boundedAnswer } from './bounded-answer.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The stream of an answer that arrives in these pieces; also reports whether the answer was cancelled. */
function answerOf(pieces: Iterable<Uint8Array>, bound: AnswerBound) {
  const source = pieces[Symbol.iterator]();
  let isCancelled = false;
  const stream = boundedAnswer(
    async () => {
      const { done, value } = source.next();
      return done === true ? undefined : value;
    },
    () => (isCancelled = true),
    bound,
  );
  return { stream, isCancelled: () => isCancelled };
}

async function piecesOf(stream: ReadableStream<Uint8Array>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(new TextDecoder('latin1').decode(piece));
  return pieces;
}

function* endless(piece: string): Generator<Uint8Array> {
  for (;;) yield bytesOf(piece);
}

test('an answer keeps all its bytes, wherever it is cut', async () => {
  const part = fc.constantFrom('\n', '\r', '\r\n', 'data: x', ':', 'event: a', '', 'é');
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
  const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(text, sizes, fc.boolean(), async (whole, cuts, isEvents) => {
      const bytes = bytesOf(whole);
      const pieces: Uint8Array[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = cuts[turn % cuts.length] ?? 1;
        pieces.push(bytes.subarray(at, at + size));
        at += size;
      }
      const { stream } = answerOf(pieces, { isEvents, most: 1_000 });
      const came = await piecesOf(stream);
      expect(came.join('')).toBe(new TextDecoder('latin1').decode(bytes));
      // Each piece except the last ends with a complete event, so a parser never has to scan an unfinished event again.
      if (!isEvents) return;
      for (const piece of came.slice(0, -1)) expect(piece).toMatch(/(^|\n|\r)(\r\n|\n|\r)$/);
    }),
  );
});

test('a parser reads the same events as from the original bytes', async () => {
  const part = fc.constantFrom(
    '\n',
    '\n\n',
    '\r\n',
    '\r\n\r\n',
    'data: x',
    ':c',
    'id: 1',
    'data:y',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
      const read = (pieces: readonly string[]): string[] => {
        const events: string[] = [];
        const parser = createParser({ onEvent: ({ data }) => events.push(data) });
        for (const piece of pieces) parser.feed(piece);
        return events;
      };
      const { stream } = answerOf(parts.map(bytesOf), { isEvents: true, most: 1_000 });
      expect(read(await piecesOf(stream))).toEqual(read([parts.join('')]));
    }),
  );
});

test('each event is passed on as soon as it is complete', async () => {
  const { stream } = answerOf(['data: 1\n', '\n', 'data: 2\r\n\r', '\ndata'].map(bytesOf), {
    isEvents: true,
    most: 100,
  });
  expect(await piecesOf(stream)).toEqual(['data: 1\n\n', 'data: 2\r\n\r', '\ndata']);
});

test.each<[string, boolean, string]>([
  ['line', true, 'x'],
  ['event of many lines', true, 'data: x\n'],
  ['event of many lines that end with CR LF', true, 'data: x\r\n'],
  ['run of comments', true, ': x\n'],
  ['text', false, 'x\n\n'],
])('an endless %s ends with an error, and is cancelled', async (_case, isEvents, piece) => {
  const { stream, isCancelled } = answerOf(endless(piece), { isEvents, most: 200_000 });
  await expect(piecesOf(stream)).rejects.toThrow(/is larger than 200000 bytes\./);
  expect(isCancelled()).toBe(true);
});

test('all events together may be larger than the limit for one event', async () => {
  const pieces = Array.from({ length: 1_000 }, () => bytesOf('data: x\n\n'));
  const { stream } = answerOf(pieces, { isEvents: true, most: 100 });
  expect((await piecesOf(stream)).join('')).toHaveLength(9_000);
});

test('a large answer that arrives in single bytes is passed on in few pieces', async () => {
  function* single(): Generator<Uint8Array> {
    for (let count = 0; count < 300_000; count += 1) yield bytesOf('x');
  }
  const whole = answerOf(single(), { isEvents: false, most: 1_000_000 });
  expect(await piecesOf(whole.stream)).toHaveLength(5);
  const event = answerOf(single(), { isEvents: true, most: 1_000_000 });
  expect(await piecesOf(event.stream)).toHaveLength(1);
});
