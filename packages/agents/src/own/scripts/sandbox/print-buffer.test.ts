import { expect, test } from 'vitest';
import { PrintBuffer } from './print-buffer.ts';

test('one thread reads the text that another thread writes, up to the size of the memory', () => {
  const reader = new PrintBuffer(6);
  const writer = new PrintBuffer(reader.memory);
  expect(reader.read()).toBe('');
  expect(writer.add('a\0')).toBe(true);
  expect(writer.add('\ud800')).toBe(true);
  expect(writer.add('é\n')).toBe(true);
  expect(reader.read()).toBe('a\0\ud800é\n');
  expect(writer.add('xy')).toBe(false);
  expect(writer.add('z')).toBe(false);
  expect(reader.read()).toBe('a\0\ud800é\nx');
});
