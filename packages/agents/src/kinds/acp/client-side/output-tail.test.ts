import { describe, expect, test } from 'vitest';
import { OutputTail } from './output-tail.ts';

describe('OutputTail', () => {
  test('the tail of an output is the whole output as long as it fits', () => {
    const tail = new OutputTail(10);
    tail.add('12345');
    tail.add('67890');
    expect([tail.read(), tail.isTruncated]).toEqual(['1234567890', false]);
  });

  test('the tail of a longer output is the output’s last bytes, however the output is split into chunks', () => {
    for (const parts of [
      ['abcdefghijklmnop'],
      'abcdefghijklmnop'.split(''),
      ['abcdefgh', 'ijklmnop'],
    ]) {
      const tail = new OutputTail(5);
      for (const part of parts) tail.add(part);
      expect([tail.read(), tail.isTruncated]).toEqual(['lmnop', true]);
    }
  });

  test.each([
    ['äöü', 3, 'ü'],
    ['äöü', 4, 'öü'],
    ['a😀b', 4, 'b'],
    ['a😀b', 5, '😀b'],
    ['€€', 2, ''],
  ])(
    'the tail of an output never begins within a character: the last bytes of %s, %i of them, are %j',
    (all, limit, kept) => {
      const tail = new OutputTail(limit);
      tail.add(all);
      expect(tail.read()).toBe(kept);
    },
  );

  test('the tail of an output holds at most twice its limit in memory, and returns the correct text', () => {
    const tail = new OutputTail(100);
    for (let at = 0; at < 10_000; at += 1) tail.add(`${at} `);
    expect(tail.read().endsWith('9997 9998 9999 ')).toBe(true);
    expect(Buffer.byteLength(tail.read())).toBe(100);
  });

  test('the tail of an output may be empty', () => {
    const tail = new OutputTail(0);
    tail.add('abc');
    expect([tail.read(), tail.isTruncated]).toEqual(['', true]);
  });
});
