import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProgramOutput } from './program-output.ts';

/** The output for text that arrives in chunks of this many bytes. */
async function passed(said: string, chunk: number): Promise<string> {
  const bytes = Buffer.from(said);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
    bytes.subarray(at * chunk, (at + 1) * chunk),
  );
  return text(Readable.from(chunks, { objectMode: false }).pipe(new ProgramOutput()));
}

test('small lines pass unchanged, in whatever chunks they arrive, with or without a last line end', async () => {
  const said = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('\n')));
  await fc.assert(
    fc.asyncProperty(said, fc.integer({ min: 1, max: 7 }), async (parts, chunk) => {
      expect(await passed(parts.join(''), chunk)).toBe(parts.join(''));
    }),
  );
});

test('SAFE: a large line keeps its place, and parts with too many values become their JSON', async () => {
  const values = Object.fromEntries(Array.from({ length: 120_000 }, (_, n) => [`key${n}`, n]));
  const message = (input: unknown): string =>
    JSON.stringify({ message: { content: [{ id: 'c', input, name: 'ü' }] } });
  const long = message('slow '.repeat(400_000));
  const lines = ['before', message(values), 'between', long, 'after'];
  const heard = await passed(lines.join('\n'), 64 * 1024);
  expect(heard).toBe(lines.with(1, message(JSON.stringify(values))).join('\n'));
});

test('SAFE: a line that is too long to hold passes unchanged', async () => {
  const said = `before\n${'x'.repeat(40 * 1024 * 1024)}\nafter`;
  expect((await passed(said, 64 * 1024)) === said).toBe(true);
});
