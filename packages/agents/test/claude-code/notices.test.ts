import { join } from 'node:path';
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, type Listener } from './running-claude.ts';

/** The present notices. */
const known = ({ updates }: Listener): string[] =>
  updates.findLast(({ notices }) => notices !== undefined)?.notices?.map(({ text }) => text) ?? [];

/** The notices about a project after its first turn. */
async function toldOf(files: Record<string, string>) {
  const { create, workspace } = await runClaude(() => [reply('Yes.')], { files });
  const listener = await create();
  await listener.ask('Hello?');
  return { texts: known(listener), workspace };
}

test('MCP servers that did not start are named', async () => {
  const servers = {
    bad: { command: '/nowhere' },
    worse: { type: 'http', url: 'http://127.0.0.1:9' },
  };
  const { texts } = await toldOf({
    '.mcp.json': JSON.stringify({ mcpServers: servers }),
    '.claude/settings.json': JSON.stringify({ enableAllProjectMcpServers: true }),
  });
  expect(texts).toEqual([
    'The MCP server “bad” did not start: its tools are missing.',
    'The MCP server “worse” did not start: its tools are missing.',
  ]);
});

test('settings that were left out in an untrusted folder are reported, with what to do', async () => {
  const { texts, workspace } = await toldOf({
    '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(touch:*)'] } }),
  });
  expect(texts).toEqual([
    expect.stringMatching(
      /^Ignoring 1 permissions\.allow entry.*not been trusted\. Run Claude Code/,
    ),
  ]);
  expect(texts[0]).toContain(workspace.projectDir);
});

test('unreadable settings are reported, with their file', async () => {
  const { texts, workspace } = await toldOf({ '.claude/settings.json': '{ "permissions": ' });
  expect(texts).toEqual([expect.stringContaining('Invalid or malformed JSON')]);
  expect(texts[0]).toContain(join(workspace.projectDir, '.claude/settings.json'));
});

test('how much of each window of a subscription is used is told with its answers', async () => {
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
  const { create } = await runClaude(() => [reply('Yes.', { headers })], { env });
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
});

test('a session without notices says so', async () => {
  const { create } = await runClaude(() => [reply('Yes.')]);
  const listener = await create();
  await listener.until(() => listener.updates.find(({ notices }) => notices !== undefined));
  expect(known(listener)).toEqual([]);
});
