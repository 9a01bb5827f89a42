import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseInput } from './parse-input.ts';

const schema = z.strictObject({
  id: z.string().min(1).max(5).optional(),
  words: z.string().min(2).optional(),
  count: z.int().min(2).max(9).optional(),
  kind: z.enum(['a', 'b']).optional(),
  list: z.array(z.string()).max(2).optional(),
  part: z.discriminatedUnion('type', [z.object({ type: z.literal('x') })]).optional(),
  either: z.union([z.string(), z.number()]).optional(),
  title: z.string().regex(/a/).optional(),
  link: z.url('is not a web address').optional(),
});

test.each<[object, string]>([
  [{ id: '' }, '`id` is empty'],
  [{ id: 'too long' }, '`id` must have at most 5 characters'],
  [{ words: 'a' }, '`words` must have at least 2 characters'],
  [{ id: 7 }, '`id` must be a text'],
  [{ count: 1 }, '`count` must be at least 2'],
  [{ count: 10 }, '`count` must be at most 9'],
  [{ count: 2.5 }, '`count` must be a whole number'],
  [{ kind: 'c' }, '`kind` must be one of "a", "b"'],
  [{ list: ['a', 'b', 'c'] }, '`list` must have at most 2 entries'],
  [{ list: ['a', 2] }, '`list.1` must be a text'],
  [{ part: { type: 'y' } }, '`part.type` must be "x"'],
  [{ part: {} }, '`part.type` must be "x"'],
  [{ either: true }, '`either` has an unsupported type'],
  [{ title: 'b' }, '`title` is not valid'],
  [{ link: 'x' }, '`link`: is not a web address'],
  [{ other: 1 }, 'it has unknown fields: other'],
  [{ id: '', count: 1 }, '`id` is empty; `count` must be at least 2'],
])('SAFE-6 the problem of %j is described: %s', (value, problems) => {
  expect(parseInput(schema, value)).toEqual({ problems });
});

test('valid input is returned as the schema returns it', () => {
  const read = parseInput(z.object({ limit: z.coerce.number().default(7) }), {});
  expect(read).toEqual({ value: { limit: 7 } });
});
