import { atLength } from '@liminal/testkit/at-length';
import { join } from 'node:path';
import { apiError, reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, messagesOf, shareClaude, type ClaudeListener } from './running-claude.ts';

/** The present notices. */
const known = ({ updates }: ClaudeListener): string[] =>
  updates.findLast(({ notices }) => notices !== undefined)?.notices?.map(({ text }) => text) ?? [];

test('notices name MCP servers that did not start, and ignored settings of an untrusted folder, with advice; usage limits of a subscription are reported with answers', async () => {
  const servers = {
    bad: { command: '/nowhere' },
    worse: { type: 'http', url: 'http://127.0.0.1:9' },
  };
  const files = {
    '.mcp.json': JSON.stringify({ mcpServers: servers }),
    '.claude/settings.json': JSON.stringify({
      enableAllProjectMcpServers: true,
      permissions: { allow: ['Bash(touch:*)'] },
    }),
  };
  const resetsAt = Math.floor(Date.now() / 1_000) + 3_600;
  const headers = {
    'anthropic-ratelimit-unified-status': 'allowed_warning',
    'anthropic-ratelimit-unified-reset': String(resetsAt),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-utilization': '0.92',
    'anthropic-ratelimit-unified-5h-reset': String(resetsAt),
    'anthropic-ratelimit-unified-5h-surpassed-threshold': '0.9',
    'anthropic-ratelimit-unified-7d-utilization': '0.2',
    'anthropic-ratelimit-unified-7d-reset': String(resetsAt),
  };
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake' };
  const { create, workspace } = await runClaude(() => [reply('Yes.', { headers })], { env, files });
  const listener = await create();
  await listener.ask('Hello?');
  const limits = listener.updates.findLast((one) => one.limits !== undefined)?.limits;
  expect(limits).toEqual([
    {
      name: '5-hour limit',
      usedPercent: 92,
      resetsAt: new Date(resetsAt * 1_000).toISOString(),
    },
  ]);

  const texts = known(listener);
  expect(texts).toEqual([
    expect.stringMatching(
      /^Ignoring 1 permissions\.allow entry.*not been trusted\. Run Claude Code/,
    ),
    'The MCP server “bad” did not start: its tools are missing.',
    'The MCP server “worse” did not start: its tools are missing.',
    expect.stringMatching(/^You have used 92 % of your 5-hour limit\./),
  ]);
  expect(texts[0]).toContain(workspace.projectDir);
});

test('unreadable settings are reported with their file', async () => {
  const files = { '.claude/settings.json': '{ "permissions": ' };
  const { create, workspace } = await runClaude(() => [reply('Yes.')], { files });
  const listener = await create();
  await listener.ask('Hello?');
  const texts = known(listener);
  expect(texts).toEqual([expect.stringContaining('Invalid or malformed JSON')]);
  expect(texts[0]).toContain(join(workspace.projectDir, '.claude/settings.json'));
});

const share = shareClaude();

test('a session without notices reports an empty list', async () => {
  const { first } = share(() => []);
  await first.until(() => first.updates.find(({ notices }) => notices !== undefined));
  expect(known(first)).toEqual([]);
});

/** The activities of a session, without their delays. */
const activities = ({ updates }: ClaudeListener): string[] =>
  updates
    .flatMap(({ activity }) => activity ?? [])
    .map((text) => text.replace(/again (now|in \d+ s)/, 'again'));

const refusals = [
  { status: 529, problem: 'The model is overloaded (529).' },
  { status: 429, problem: 'The model rejects further requests for now (429).' },
];

test.each(refusals.slice(atLength ? 0 : 1))(
  'a retry after $status is shown while the turn waits for it',
  async ({ status, problem }) => {
    const { listener } = share(() => [apiError(status), apiError(status), reply('Finally.')]);
    expect(messagesOf(await listener.ask('Go on.'))).toEqual(['user: Go on.', 'agent: Finally.']);
    expect(activities(listener)).toEqual([
      `${problem} Trying again (attempt 1 of 2).`,
      `${problem} Trying again (attempt 2 of 2).`,
      '',
    ]);
  },
);
