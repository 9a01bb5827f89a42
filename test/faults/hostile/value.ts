/** Generates hostile values. A value is given as a recipe, which is short however large the value is. */
import fc from 'fast-check';

export type HostileValue =
  /** JSON, unchanged. */
  | { json: string }
  | { text: string; times: number }
  | { nested: '[' | '{'; depth: number }
  | { keys: number }
  | { leaves: number };

/** Names of fields: inherited properties, empty names, numbers, and names with characters that are hard to show. */
export const oddNames = [
  '',
  ' ',
  '0',
  '-1',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  'undefined',
  'null',
  'a\u0000b',
  '\ud800',
  '\u202e',
];

export const oddNumbers = [
  '0',
  '-0',
  '-1',
  '0.5',
  '1e308',
  '-1e308',
  '1e999',
  '5e-324',
  '2147483648',
  '9007199254740993',
  '8640000000000001',
];

const oddJson = [
  'null',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  '[null]',
  '[[],{}]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":null,"hasOwnProperty":"x","length":-1}',
  '{"toJSON":"x","then":"y","type":null}',
  '{"a":1,"a":2,"":3}',
];

/** Invalid or extreme dates, and addresses and paths that do not exist or that lead outside. */
const oddTexts = [
  '9999-99-99T99:99:99Z',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-20T00:00:00.000Z',
  '1970-01-01',
  'http://',
  '//[::1',
  'javascript:alert(1)',
  'file:///%00%ff',
  'data:;base64,@',
  'https://user:secret@[fe80::1%25]/..',
  '../../../../etc/passwd',
  '\\\\?\\C:\\',
  '{"a":',
  '{{sessionId}}',
];

/** Parts of texts that are hard to write, count, show or search. */
const pieces = [
  'a',
  '"',
  '\\',
  '\n',
  '\r\n',
  '\u0000',
  '\u0001',
  '\u001b[31m',
  '\u001b]0;t\u0007',
  '\u009b2J',
  '\u007f',
  '\ud800',
  '\udc00',
  '\udc00\ud800',
  '😀',
  '👩🏽‍💻',
  '\u{10ffff}',
  '\u{e0041}',
  '\u202e',
  '\u2066',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\ufffe',
  'e\u0301\u0323',
  '\u0000\ud800',
  'ﷺ',
  '```\n',
  '<b>',
  '[x](y)',
  ' ',
  '\t',
];

/** Generates sizes: most are small, some are large, and a few are huge. */
function size(large: number, huge: number, small = 24): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: small, arbitrary: fc.integer({ min: 1, max: 64 }) },
    { weight: 4, arbitrary: fc.integer({ min: 65, max: large }) },
    { weight: 1, arbitrary: fc.integer({ min: large, max: huge }) },
  );
}

export const hostileValue: fc.Arbitrary<HostileValue> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...oddJson, ...oddNumbers, ...[...oddTexts, ...oddNames].map(quoted))
      .map((json) => ({ json })),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      text: fc.oneof(
        fc.constant(pieces.join('')),
        fc.constantFrom(...pieces),
        fc.string({ unit: 'binary', minLength: 1 }),
      ),
      times: size(20_000, 4_000_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      nested: fc.constantFrom('[' as const, '{' as const),
      // These values are deep, but not large.
      depth: fc.oneof(size(1_000, 10_000), fc.integer({ min: 1_000, max: 10_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ keys: size(1_000, 100_000, 8) }) },
  { weight: 1, arbitrary: fc.record({ leaves: size(5_000, 500_000, 8) }) },
);

/** The maximum length of a text in a value, in characters. */
const maxText = 8 * 1024 * 1024;

/** Returns the value's JSON. It is written without JSON.stringify, which fails for some values. */
export function jsonOf(value: HostileValue): string {
  if ('json' in value) return value.json;
  if ('text' in value) return quoted(textOf(value));
  if ('keys' in value) {
    return `{${Array.from({ length: value.keys }, (_, n) => `"k${n}":${n}`).join(',')}}`;
  }
  if ('leaves' in value)
    return `[${Array.from({ length: value.leaves }, (_, n) => n % 10).join(',')}]`;
  const [open, close] = value.nested === '[' ? ['[', ']'] : ['{"a":', '}'];
  return `${open.repeat(value.depth)}1${close.repeat(value.depth)}`;
}

/** Returns an equally hostile text: the value itself if the value is a text, otherwise the value's JSON. */
export function textOf(value: HostileValue): string {
  if (!('text' in value)) return jsonOf(value);
  const { text, times } = value;
  // In JSON, quotation marks and control characters take up to six characters.
  return text.repeat(Math.min(times, Math.ceil(maxText / 6 / text.length)));
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
