import { expect, test } from 'vitest';
import { z } from 'zod';
import { pickFields, readFields } from './fields.ts';

const shape = { name: z.string(), count: z.number() };

test('each field is read by its own schema, and fields that do not match are kept', () => {
  expect(readFields({ name: 'a', count: 'b', beam: 1 }, shape)).toEqual({
    fields: { name: 'a' },
    rest: { count: 'b', beam: 1 },
  });
  expect(readFields({ name: 'a', count: null }, shape)).toEqual({
    fields: { name: 'a' },
    rest: undefined,
  });
  expect(readFields({ toString: 1 }, shape)).toEqual({ fields: {}, rest: { toString: 1 } });
});

test('`pickFields` leaves out unknown fields, inherited fields and fields of another type', () => {
  expect(pickFields({ name: 'a', count: 'b', beam: 1 }, shape)).toEqual({ name: 'a' });
  expect(pickFields(Object.create({ name: 'a' }), shape)).toEqual({});
});

test.each([undefined, null, 7, 'name', [], ['name']])('%j has no fields', (value) => {
  expect(readFields(value, shape)).toEqual({ fields: {}, rest: undefined });
  expect(pickFields(value, shape)).toEqual({});
});
