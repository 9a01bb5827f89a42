import { describe, expect, test } from 'vitest';
import { hideUrlSecrets } from './url-secrets.ts';

describe('SAFE: a printed URL shows no secret', () => {
  test.each([
    ['redis://:pass@redis.example:6379/2', 'redis://***@redis.example:6379/2'],
    ['redis://user:p%40ss@redis.example', 'redis://***@redis.example'],
    ['rediss://user:pa@ss/w@redis.example:6380', 'rediss://***@redis.example:6380'],
    ['redis://:one@a:1,redis://:two@b:2', 'redis://***@a:1,redis://***@b:2'],
    ['redis://:o,ne@a:1, rediss://:two@b:2', 'redis://***@a:1, rediss://***@b:2'],
    ['redis://redis.example?password=pass', 'redis://redis.example?password=***'],
    ['postgresql://me:pass@db.example:5432/liminal', 'postgresql://***@db.example:5432/liminal'],
    ['postgres://db.example/x?user=me&password=p', 'postgres://db.example/x?user=***&password=***'],
    ['postgres:///x?host=/run&password=a%26b#c', 'postgres:///x?host=***&password=***#***'],
    ['https://me:pass@calm-cat-1.convex.cloud/', 'https://***@calm-cat-1.convex.cloud/'],
    ['http://calm-cat-1.convex.cloud?key=k&x', 'http://calm-cat-1.convex.cloud?***'],
    ['HTTPS://pass@calm-cat-1.convex.cloud', 'HTTPS://***@calm-cat-1.convex.cloud'],
    ['http://h/@scope?x=1', 'http://h/@scope?x=***'],
    ['http://h/?next=http://b/?key=k', 'http://h/?next=***'],
    ['http://h/http://b/c#d', 'http://h/http://b/c#***'],
    ['https://a/http://me:pass@h', 'https://a/http://***@h'],
    [
      'https://a/b?c=d#e http://a/http://b/ftp://me:pa/ss@h',
      'https://a/b?c=***#*** http://a/http://b/ftp://***@h',
    ],
    ['xhttp://pa/ss@h', 'xhttp://***@h'],
    ['httpx://pa/ss@h', 'httpx://***@h'],
    ['https://h/?key=prod:calm-cat-1|eyJ2MiI6Ij0123456789', 'https://h/?key=***'],
    ['https://h/prod:calm-cat-1|eyJ2MiI6Ij0123456789=', 'https://h/prod:calm-cat-1|***'],
  ])('%s', (url, shown) => {
    expect(hideUrlSecrets(url)).toBe(shown);
    expect(hideUrlSecrets(`It is at ${url} now.`)).toBe(`It is at ${shown} now.`);
    const line = JSON.stringify({ url, error: `"${url}"\n at` });
    expect(JSON.parse(hideUrlSecrets(line))).toEqual({ url: shown, error: `"${shown}"\n at` });
  });

  test('a deploy key outside a URL is hidden', () => {
    expect(hideUrlSecrets('the key convex-self-hosted|01f7a735340227d2769630a37069656211 is')).toBe(
      'the key convex-self-hosted|*** is',
    );
  });
});

test.each([
  'https://www.npmjs.com/package/@scope/name',
  'The database db.example:5432/liminal cannot be used: it is starting.',
  'someone@example.com, a|b, and 1 || 2',
])('%s is unchanged', (text) => {
  expect(hideUrlSecrets(text)).toBe(text);
});

test('SAFE: a text of many millions of characters is processed, whatever its content is', () => {
  const long = 'A'.repeat(16 << 20);
  expect(hideUrlSecrets(`https://${long}?key=${long} end`)).toHaveLength(long.length + 20);
  expect(hideUrlSecrets(`prod:a|${long} end`)).toMatch(/^prod:a\|\*{3}/);
  const nested = 'http://a/'.repeat(1 << 20);
  expect(hideUrlSecrets(`${nested}http://me:pass@h`)).toBe(`${nested}http://***@h`);
});
