import { loadClaudeRecording } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { readErrorOutput, readLimit, readNotices } from './session-notices.ts';

const texts = (message: unknown, inTurn = false): string[] =>
  readNotices(message, inTurn).flatMap(({ notices }) => notices.map(({ text }) => text));

describe('a limit on use', () => {
  const event = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info });
  const near = {
    status: 'allowed_warning',
    resetsAt: 1_795_400_447,
    rateLimitType: 'five_hour',
    utilization: 0.92,
  };

  test('is shown when it comes near, with its end', () => {
    expect(texts(event(near))).toEqual([
      'You have used 92 % of your 5-hour limit. It begins anew at 2026-11-23 02:20 UTC.',
    ]);
  });

  test('is told as a window of the account, also while there is room', () => {
    const resetsAt = '2026-11-23T02:20:47.000Z';
    expect(readLimit(event(near))).toEqual([{ name: '5-hour limit', usedPercent: 92, resetsAt }]);
    expect(readLimit(event({ ...near, status: 'rejected', resetsAt: 1e300 }))).toEqual([
      { name: '5-hour limit', usedPercent: 92, isReached: true },
    ]);
    expect(readLimit(event({ status: 'allowed', rateLimitType: 'seven_day' }))).toEqual([
      { name: 'weekly limit' },
    ]);
    expect(readLimit({ type: 'system' })).toEqual([]);
  });

  test('is shown when it is reached', () => {
    expect(texts(event({ status: 'rejected', rateLimitType: 'seven_day' }))).toEqual([
      'Your weekly limit is reached.',
    ]);
  });

  test.each([8_640_000_000_001, -1e308])(
    'SAFE: with an impossible end (%s) is shown without it',
    (end) => {
      expect(texts(event({ status: 'rejected', resetsAt: end }))).toEqual([
        'Your usage limit is reached.',
      ]);
    },
  );

  test('is removed when there is room again', () => {
    expect(readNotices(event({ ...near, status: 'allowed' }), true)).toEqual([
      { matter: 'limit', notices: [] },
    ]);
  });

  test('of an unknown kind is shown all the same', () => {
    expect(texts(event({ status: 'allowed_warning', rateLimitType: 'constructor' }))).toEqual([
      'You have used most of your usage limit.',
    ]);
  });
});

test('a plugin that did not load is reported', () => {
  const init = { type: 'system', subtype: 'init', mcp_servers: 'none' };
  const errors = [{ plugin: 'lint@shop', type: 'generic-error', message: 'No manifest.' }];
  expect(texts({ ...init, plugin_errors: errors })).toEqual([
    'The plugin “lint@shop” has a problem: No manifest.',
  ]);
});

test.each([
  ['failed', ['The MCP server “docs” did not start: its tools are missing.']],
  [
    'needs-auth',
    [
      'The MCP server “docs” wants you to sign in: choose “MCP servers” in the session’s menu, or run claude in a terminal, and /mcp there.',
    ],
  ],
  ['connected', []],
  ['toString', []],
])('of an MCP server that is %s is said %j', (status, said) => {
  const mcp_servers = [{ name: 'docs', status }];
  expect(texts({ type: 'system', subtype: 'init', mcp_servers })).toEqual(said);
});

test('a start takes back what was wrong with servers and plugins before', () => {
  expect(readNotices({ type: 'system', subtype: 'init' }, false)).toEqual([
    { matter: 'mcp', notices: [] },
    { matter: 'plugins', notices: [] },
  ]);
});

test('a warning stands for its matter, or else for itself', () => {
  const banner = {
    type: 'system',
    subtype: 'informational',
    content: 'Careful.',
    level: 'warning',
  };
  const notices = [{ level: 'warning', text: 'Careful.' }];
  expect(readNotices(banner, false)).toEqual([{ matter: 'Careful.', notices }]);
  expect(readNotices({ ...banner, tag: 'disk' }, false)).toEqual([{ matter: 'disk', notices }]);
});

test.each([null, undefined, 'system', {}, { type: 'assistant' }, { type: 'rate_limit_event' }])(
  'of %j nothing is said',
  (message) => {
    expect(readNotices(message, false)).toEqual([]);
  },
);

test('a warning in a turn is the turn’s own', () => {
  const banner = {
    type: 'system',
    subtype: 'informational',
    content: 'Careful.',
    level: 'warning',
  };
  expect(texts(banner, false)).toEqual(['Careful.']);
  expect(texts(banner, true)).toEqual([]);
  expect(texts({ ...banner, level: 'info' })).toEqual([]);
  expect(texts({ ...banner, tag: 'settings_not_in_effect' }, true)).toEqual(['Careful.']);
});

test('a normal turn gives no notice', async () => {
  const { entries } = await loadClaudeRecording('tools-parallel');
  expect(entries.flatMap((entry) => ('sdk' in entry ? texts(entry.sdk) : []))).toEqual([]);
});

test('Node’s own words in the error output are left out, and the rest is bounded', () => {
  const output = `(node:12) Warning: x\n(Use \`node --trace-warnings …\`)\n one \n\n${'two '.repeat(999)}`;
  expect(readErrorOutput(output).map(({ text }) => text)).toEqual([
    'one',
    expect.stringMatching(/^(two ){150}$/),
  ]);
  expect(readErrorOutput('a\nb\nc\nd\ne\nf').map(({ text }) => text)).toEqual(['c', 'd', 'e', 'f']);
});
