import { expect, it } from 'vitest';
import { bytes, count, dollars, tokens } from './amounts.ts';
import { baseName, setHome, shortPath } from './paths.ts';
import { ago, between, duration } from './time.ts';

it.each([
  [0, '0 s'],
  [240, '0.2 s'],
  [6000, '6 s'],
  [9960, '10 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [3_840_000, '1 h 4 min'],
])('a duration of %d ms is shown as %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

it.each([
  ['2026-01-01T11:59:50Z', 'now'],
  ['2026-01-01T11:55:00Z', '5 min'],
  ['2026-01-01T10:00:00Z', '2 h'],
  ['2025-12-30T12:00:00Z', '2 d'],
  ['not a time', ''],
])('the time since %s is shown as “%s”', (iso, words) => {
  expect(ago(iso, Date.parse('2026-01-01T12:00:00Z'))).toBe(words);
});

it('the duration is empty if one of the two times is missing', () => {
  expect(between(undefined, '2026-01-01T00:00:00Z')).toBeUndefined();
  expect(between('2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z')).toBe(0);
});

it.each([
  [840, '840'],
  [1200, '1.2k'],
  [18_300, '18k'],
  [200_000, '200k'],
  [1_200_000, '1.2M'],
])('a count of %d tokens is shown as %s', (amount, words) => {
  expect(tokens(amount)).toBe(words);
});

it('an amount of money is shown with cents', () => {
  expect([dollars(0), dollars(0.001), dollars(0.04), dollars(12)]).toEqual([
    '$0.00',
    '< $0.01',
    '$0.04',
    '$12.00',
  ]);
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [840, '840 bytes'],
  [1234, '1.2 KB'],
  [2_097_152, '2.1 MB'],
  [53_687_091_200, '54 GB'],
])('a size of %d bytes is shown as %s', (size, words) => {
  expect(bytes(size)).toBe(words);
});

it('the noun after a count of one is singular', () => {
  expect([count(1, 'file'), count(3, 'file')]).toEqual(['1 file', '3 files']);
});

it('a path is shown relative to its project’s folder or to the home folder', () => {
  expect(shortPath('/code/shop/a.ts', '/code/shop')).toBe('a.ts');
  expect(shortPath('/home/ann/code')).toBe('~/code');
  expect(shortPath('/Users/ann')).toBe('~');
  expect(shortPath('/root/code')).toBe('~/code');
  expect(shortPath('/rooted/code')).toBe('/rooted/code');
  expect(baseName('/code/shop/')).toBe('shop');
  setHome('/srv/ann');
  expect(shortPath('/srv/ann/code')).toBe('~/code');
  expect(shortPath('/srv/ann')).toBe('~');
  expect(shortPath('/srv/anna/code')).toBe('/srv/anna/code');
  expect(shortPath('/home/ben/code')).toBe('/home/ben/code');
});
