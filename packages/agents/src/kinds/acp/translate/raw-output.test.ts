import { describe, expect, test } from 'vitest';
import { readRawOutput, restOfRawOutput } from './raw-output.ts';

const text = (words: string, type = 'text') => ({ type, text: words });
const json = (value: unknown) => JSON.stringify(value, null, 2);

describe('programs’ output', () => {
  test.each<[object, string, number | undefined]>([
    [{ aggregated_output: 'all', stdout: 'out', exit_code: 0 }, 'all', 0],
    [{ stdout: 'out\n', stderr: 'err\n', exitCode: 3 }, 'out\nerr\n', 3],
    [{ stdout: 'out' }, 'out', undefined],
    [{ stderr: 'err', exit_code: 1, exitCode: 2 }, 'err', 1],
    [{ stdout: '', output: 'other' }, '', undefined],
    [{ stdout: 'out', exit_code: 0.5 }, 'out', undefined],
  ])('a program’s output in %j is %j, with the exit code %s', (raw, words, exitCode) => {
    expect(readRawOutput(raw)).toEqual({ text: words, isJson: false, isPrinted: true, exitCode });
  });
});

describe('text for people', () => {
  test.each<[unknown, string]>([
    ['words', 'words'],
    [{ output: 'a', text: 'b', result: 'c', message: 'd', error: 'e', content: 'f' }, 'a'],
    [{ text: 'b', result: 'c', message: 'd', error: 'e', content: 'f' }, 'b'],
    [{ result: 'c', message: 'd', error: 'e', content: 'f' }, 'c'],
    [{ message: 'd', error: 'e', content: 'f' }, 'd'],
    [{ error: 'e', content: 'f' }, 'e'],
    [{ content: 'f' }, 'f'],
    [{ content: [text('one'), text('two', 'input_text')] }, 'one\ntwo'],
    [[text('one'), text('two')], 'one\ntwo'],
    [[], ''],
  ])('the text for people in %j is %j', (raw, words) => {
    expect(readRawOutput(raw)).toMatchObject({ text: words, isJson: false, isPrinted: false });
  });

  test('the text for people and the exit code come from the same value', () => {
    expect(readRawOutput({ output: 'a', exit_code: 2 })).toMatchObject({ text: 'a', exitCode: 2 });
  });
});

describe('a value without text for people is shown as JSON', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'A' };
  test.each<[unknown, string]>([
    [{ found: 1 }, json({ found: 1 })],
    [{ output: 7 }, json({ output: 7 })],
    [{ content: [text('one'), image] }, json({ content: [text('one'), image] })],
    [[text('one'), 'two'], json([text('one'), 'two'])],
    [7, '7'],
    [null, 'null'],
    [false, 'false'],
  ])('%j', (raw, words) => {
    expect(readRawOutput(raw)).toMatchObject({ text: words, isJson: true, isPrinted: false });
  });

  test('raw output as JSON is indented if it is short, and on one line if it is long', () => {
    const list = (count: number, value: unknown) => ({
      list: Array.from({ length: count }, () => value),
    });
    for (const short of [list(5_000, 1), list(1, 'x'.repeat(19_000))]) {
      expect(readRawOutput(short).text).toBe(json(short));
    }
    for (const long of [list(9_000, 1), list(1, 'x'.repeat(20_000))]) {
      expect(readRawOutput(long).text).toBe(JSON.stringify(long));
    }
  });

  test('a missing value gives an empty text', () => {
    expect(readRawOutput(undefined)).toEqual({
      text: '',
      isJson: false,
      isPrinted: false,
      exitCode: undefined,
    });
  });
});

test.each<[unknown, string]>([
  [undefined, 'shown'],
  ['shown', 'shown'],
  [7, '7'],
  [{ found: 1 }, json({ found: 1 })],
  [[text('shown')], 'shown'],
  [{ content: [text('shown')], output: 'shown', error: '', more: null }, 'shown'],
  [{ output: 'shown', exit_code: 0 }, 'shown'],
  [{ output: 'shown', exitCode: 3 }, 'shown'],
])('%j has no rest if %j is shown', (raw, shown) => {
  expect(restOfRawOutput(raw, shown)).toBeUndefined();
});

test.each<[unknown, unknown]>([
  ['other', 'other'],
  [[text('other')], [text('other')]],
  [{ output: 'shown', more: 1 }, { more: 1 }],
  [{ output: 'shown', text: 'other' }, { text: 'other' }],
  [{ output: 'shown', exit_code: 0.5 }, { exit_code: 0.5 }],
  [{ output: 'shown', code: 3 }, { code: 3 }],
  [{ content: [text('other')] }, { content: [text('other')] }],
  [{ parts: [text('shown')] }, { parts: [text('shown')] }],
])('%j has as its rest the part that is not shown: %j', (raw, rest) => {
  expect(restOfRawOutput(raw, 'shown')).toEqual(rest);
});
