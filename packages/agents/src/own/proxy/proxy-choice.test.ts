import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { shownProxy, wayTo } from './proxy-choice.ts';

const proxy = 'http://proxy.example:3128';

/** The way in which a request is sent: the proxy and its variable, or the reason for sending it directly. */
function way(address: string, env: Record<string, string>): string {
  const found = wayTo(new URL(address), env);
  if (found.kind === 'proxy') return shownProxy(found.proxy);
  return found.kind === 'direct' ? found.reason : found.problem;
}

test.each([
  ['https://a.example', { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
  ['https://a.example', { https_proxy: proxy, HTTPS_PROXY: 'http://other' }, 'https_proxy'],
  ['https://a.example', { https_proxy: ' ', HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
  ['https://a.example', { HTTP_PROXY: proxy }, 'HTTP_PROXY'],
  ['https://a.example', { HTTP_PROXY: 'http://other', ALL_PROXY: proxy }, 'ALL_PROXY'],
  ['wss://a.example', { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
  ['http://a.example', { http_proxy: proxy }, 'http_proxy'],
  ['http://a.example', { HTTP_PROXY: 'proxy.example:3128' }, 'HTTP_PROXY'],
  ['http://a.example', { all_proxy: proxy }, 'all_proxy'],
  ['http://10.1.2.3', { HTTP_PROXY: proxy }, 'HTTP_PROXY'],
])('a request to %s with %j goes through the proxy of %s', (address, env, variable) => {
  expect(way(address, env)).toBe(`${proxy} of ${variable}`);
});

test('an http address does not use the proxy of https addresses', () => {
  expect(way('http://a.example', { HTTPS_PROXY: proxy })).toBe('no proxy is set');
});

const own = Object.values(networkInterfaces())
  .flatMap((one = []) => one)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
  .filter((address) => !address.startsWith('[fe80'));

test.each([
  'localhost',
  'localhost.',
  'model.localhost',
  '127.0.0.1',
  '127.1.2.3',
  '0.0.0.0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  ...own,
])('requests to this machine, as %s, are sent directly', (host) => {
  const env = { HTTP_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: 'none.example' };
  expect(way(`http://${host}:8080/v1`, env)).toBe('this machine');
});

test.each([
  ['a.example', 'a.example'],
  ['a.example', 'b.example, a.example'],
  ['a.example', 'b.example a.example.'],
  ['a.example.', 'A.Example'],
  ['x.a.example', 'a.example'],
  ['x.a.example', '.a.example'],
  ['a.example', '.a.example'],
  ['x.a.example', '*.a.example'],
  ['a.example', '*'],
  ['a.example:8080', 'a.example:8080'],
  ['a.example', 'a.example:80'],
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3', '10.0.0.0/8'],
  ['[2001:db8::1]', '2001:db8::/32'],
  ['[2001:db8::1]', '[2001:db8::1]'],
])('a request to %s is sent directly with NO_PROXY=%s', (host, exceptions) => {
  for (const name of ['NO_PROXY', 'no_proxy']) {
    expect(way(`http://${host}/`, { HTTP_PROXY: proxy, [name]: exceptions })).toBe('NO_PROXY');
  }
});

test.each([
  ['a.example', ''],
  ['aa.example', 'a.example'],
  ['a.example', '*.a.example'],
  ['a.example', 'a.example:8080'],
  ['a.example.other', 'a.example'],
  ['11.1.2.3', '10.0.0.0/8'],
  ['10.1.2.3', '10.0.0.0/99'],
  ['10.1.2.3', '2001:db8::/32'],
  ['110.1.2.3', '10.1.2.3'],
])('a request to %s goes through the proxy with NO_PROXY=%s', (host, exceptions) => {
  const env = { HTTP_PROXY: proxy, NO_PROXY: exceptions };
  expect(way(`http://${host}/`, env)).toBe(`${proxy} of HTTP_PROXY`);
});

test.each(['socks5://proxy.example', 'http://', 'a b', 'file:///proxy'])(
  'the value %s is reported as unusable',
  (value) => {
    expect(way('https://a.example', { HTTPS_PROXY: value })).toMatch(/^HTTPS_PROXY must be/);
  },
);

test('SAFE: a proxy is shown without its user name and password', () => {
  const shown = way('https://a.example', { HTTPS_PROXY: 'http://me:secret@proxy.example:3128' });
  expect(shown).toBe('http://***@proxy.example:3128 of HTTPS_PROXY');
});
