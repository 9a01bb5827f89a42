import { loadClaudeRecording } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { readErrorOutput, readLimit, readNotices } from './session-notices.ts';

const texts = (message: unknown, inTurn = false): string[] =>
  readNotices(message, inTurn).flatMap(({ notices }) => notices.map(({ text }) => text));

describe('usage limits', () => {
  const event = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info });
  const near = {
    status: 'allowed_warning',
    resetsAt: 1_795_400_447,
    rateLimitType: 'five_hour',
    utilization: 0.92,
  };

  test('a usage limit that is nearly reached is shown, with its reset time', () => {
    expect(texts(event(near))).toEqual([
      'You have used 92 % of your 5-hour limit. It resets at 2026-11-23 02:20 UTC.',
    ]);
  });

  test('a usage limit is reported to subscribers even if it is not nearly reached', () => {
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

  test('a usage limit that is reached is shown', () => {
    expect(texts(event({ status: 'rejected', rateLimitType: 'seven_day' }))).toEqual([
      'Your weekly limit is reached.',
    ]);
  });

  test.each([8_640_000_000_001, -1e308])(
    'SAFE: a usage limit with an impossible reset time (%s) is shown without the time',
    (end) => {
      expect(texts(event({ status: 'rejected', resetsAt: end }))).toEqual([
        'Your usage limit is reached.',
      ]);
    },
  );

  test('a usage limit is removed when the limit has reset', () => {
    expect(readNotices(event({ ...near, status: 'allowed' }), true)).toEqual([
      { topic: 'limit', notices: [] },
    ]);
  });

  test('a usage limit of an unknown kind is shown', () => {
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
      'The MCP server “docs” needs you to sign in: choose “MCP servers” in the session’s menu, or run /mcp in claude in a terminal.',
    ],
  ],
  ['connected', []],
  ['toString', []],
])('an MCP server with the state %s has the notices %j', (status, said) => {
  const mcp_servers = [{ name: 'docs', status }];
  expect(texts({ type: 'system', subtype: 'init', mcp_servers })).toEqual(said);
});

test('a start removes earlier notices about servers and plugins', () => {
  expect(readNotices({ type: 'system', subtype: 'init' }, false)).toEqual([
    { topic: 'mcp', notices: [] },
    { topic: 'plugins', notices: [] },
  ]);
});

test('the topic of a warning is its tag, or its text if it has no tag', () => {
  const banner = {
    type: 'system',
    subtype: 'informational',
    content: 'Careful.',
    level: 'warning',
  };
  const notices = [{ level: 'warning', text: 'Careful.' }];
  expect(readNotices(banner, false)).toEqual([{ topic: 'Careful.', notices }]);
  expect(readNotices({ ...banner, tag: 'disk' }, false)).toEqual([{ topic: 'disk', notices }]);
});

test.each([null, undefined, 'system', {}, { type: 'assistant' }, { type: 'rate_limit_event' }])(
  '%j has no notices',
  (message) => {
    expect(readNotices(message, false)).toEqual([]);
  },
);

test('a warning during a turn is not a session notice', () => {
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

test('a normal turn has no notices', async () => {
  const { entries } = await loadClaudeRecording('tools-parallel');
  expect(entries.flatMap((entry) => ('sdk' in entry ? texts(entry.sdk) : []))).toEqual([]);
});

test('Node’s own lines in the error output are left out, and the rest is bounded', () => {
  const output = `(node:12) Warning: x\n(Use \`node --trace-warnings …\`)\n one \n\n${'two '.repeat(999)}`;
  expect(readErrorOutput(output).map(({ text }) => text)).toEqual([
    'one',
    expect.stringMatching(/^(two ){150}$/),
  ]);
  expect(readErrorOutput('a\nb\nc\nd\ne\nf').map(({ text }) => text)).toEqual(['c', 'd', 'e', 'f']);
});
