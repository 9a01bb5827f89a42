import { cpuMsOf } from '@liminal/testkit/cpu-time';
import { firstOf } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { plantedSecrets } from '../testing/planted-secrets.ts';
import { Redactor } from './redactor.ts';

test('searching a long text takes time in proportion to its length, whatever its content is', () => {
  const pieces = ['a-', 'key', 'token=', '-----BEGIN PRIVATE KEY-----', 'https://', 'password: "'];
  const hard = [...pieces, 'eyJ', 'sk-', '\\"', 'authorization: ', 'Bearer ', 'a:b|', '?x='];
  for (const piece of hard) {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    expect(
      cpuMsOf(() => new Redactor([]).text(text)),
      piece,
    ).toBeLessThan(2_000);
  }
});

/** Rules whose secrets have a fixed length or a known end. */
const withEnd = ['aws-access-key', 'google-key', 'private-key', 'url-password', 'assignment'];

test('SAFE: a secret of several million characters is removed, without additional stack space', () => {
  const long = 'A'.repeat(4 << 20);
  for (const { rule, secret, around } of firstOf(3, plantedSecrets)) {
    const text = `${around.replace('¤', () => secret + long)} and words`;
    const redacted = new Redactor([]).text(text);
    const most = withEnd.includes(rule) ? text.length + 50 : 200;
    expect(redacted.length, around).toBeLessThanOrEqual(most);
    expect(redacted).toMatch(/ and words$/);
  }
  const key = `-----BEGIN PRIVATE KEY-----\n${long}`;
  expect(new Redactor([]).text(`${key} and words`)).toBe('[secret: private-key] and words');
});

test.each([
  ['eyJ-'],
  ['eyJ0000000-'],
  ['eyJ0000000.'],
  ['eyJ0000000.eyJ0000000-'],
  ['sk-'],
  ['dev:'],
  ['cookie::'],
  ['t0://:#'],
  ['token="'],
  ['token="a'],
  ['token=""'],
  [`token="a\\"`],
  [`token='a token="b`],
  [String.raw`token=\"`],
  [String.raw`token=\"a`],
  [String.raw`token=\\"a token=\\\"b`],
  ['token="a\n'],
  ['\\', 'token="'],
  ['\n', 'token="'],
  [' ', 'token="a'],
  ['token: a'],
  ['-', '\ntoken: '],
  ['-----BEGIN PRIVATE KEY-----\n'],
])(
  '2 MB of %j take time in proportion to their length',
  { timeout: 120_000 },
  (piece, start = '') => {
    // A search that compared each piece with all other pieces would take hours.
    expect(new Redactor([]).text(start + piece.repeat(2_000_000 / piece.length))).toBeTypeOf(
      'string',
    );
  },
);
