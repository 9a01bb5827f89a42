import { expect, test } from 'vitest';
import { Printed } from './printed.ts';

test('what one thread writes the other reads, as far as it fits', () => {
  const reader = new Printed(6);
  const writer = new Printed(reader.memory);
  expect(reader.read()).toBe('');
  expect(writer.add('a\0')).toBe(true);
  expect(writer.add('\ud800')).toBe(true);
  expect(writer.add('é\n')).toBe(true);
  expect(reader.read()).toBe('a\0\ud800é\n');
  expect(writer.add('xy')).toBe(false);
  expect(writer.add('z')).toBe(false);
  expect(reader.read()).toBe('a\0\ud800é\nx');
});
