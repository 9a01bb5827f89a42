/** A stranger's repository, opened with the real Claude Code and the real Codex on scripted models. */
import { execFileSync } from 'node:child_process';
import { access, chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AgentDriver } from '@liminal/agents';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { CodexDriver } from '@liminal/agents/codex';
import {
  answer,
  claudeEnvironment,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  reply,
  startMessagesApi,
  startResponsesApi,
  type Workspace,
} from '@liminal/testkit';
import type { ApprovalUpsert, McpServers } from '@liminal/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

const hooks = (events: readonly string[], marks: string, word = 'hook') =>
  Object.fromEntries(
    events.map((event) => [
      event,
      [{ hooks: [{ type: 'command', command: `touch ${marks}/${word}-${event}` }] }],
    ]),
  );
const server = (marks: string) => ({
  command: '/bin/sh',
  args: ['-c', `touch ${marks}/mcp; exec cat`],
});

/** Files of a clone in which each program that runs leaves a file in `marks`. */
const ofClaude = (marks: string) => ({
  '.claude/settings.json': JSON.stringify({
    hooks: hooks(['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd'], marks),
    apiKeyHelper: `touch ${marks}/helper; echo scripted`,
    enableAllProjectMcpServers: true,
  }),
  '.claude/settings.local.json': JSON.stringify({ hooks: hooks(['SessionStart'], marks, 'local') }),
  '.mcp.json': JSON.stringify({ mcpServers: { door: server(marks) } }),
});

const toml = (marks: string) =>
  `[mcp_servers.door]\ncommand = "/bin/sh"\nargs = ["-c", "touch ${marks}/mcp; exec cat"]\n`;
const ofCodex = (marks: string) => ({ '.codex/config.toml': toml(marks) });

interface Stage extends Workspace {
  provider: AgentDriver;
}

/** Environment variables, and MCP servers of Liminal's own configuration. */
interface Configured {
  env?: Record<string, string>;
  mcpServers?: McpServers;
}

async function claudeStage(configured: Configured = {}): Promise<Stage> {
  const workspace = await makeWorkspace();
  const api = await startMessagesApi({ script: () => reply('Yes.') });
  const env = { ...claudeEnvironment(workspace.home, api.url), ...configured.env };
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await api.close();
    await workspace.remove();
  });
  return { ...workspace, provider: new ClaudeDriver({ ...configured, env }) };
}

/** Codex's user configuration allows writing anywhere, so that Codex would trust every folder by itself. */
async function codexStage(configured: Configured = {}): Promise<Stage> {
  const workspace = await makeWorkspace();
  const api = await startResponsesApi({ script: () => answer('Yes.') });
  await makeCodexHome(join(workspace.home, '.codex'), api.url, { sandbox: 'danger-full-access' });
  const inherited = { ...codexEnvironment(workspace.home), ...configured.env };
  await mkdir(inherited['TMPDIR'] ?? workspace.home, { recursive: true });
  onTestFinished(async () => {
    await api.close();
    await workspace.remove();
  });
  return { ...workspace, provider: new CodexDriver({ ...configured, inherited }) };
}

const kinds = [
  {
    cliType: 'claude-code',
    stage: claudeStage,
    files: ofClaude,
    changed: '.claude/settings.json',
    runs: [
      'helper',
      'hook-SessionStart',
      'hook-Stop',
      'hook-UserPromptSubmit',
      'local-SessionStart',
      'mcp',
    ],
  },
  {
    cliType: 'codex',
    stage: codexStage,
    files: ofCodex,
    changed: '.codex/config.toml',
    runs: ['mcp'],
  },
];

class Clone {
  readonly marks: string;
  readonly world: World;
  readonly cliType: string;

  private constructor(world: World, cliType: string, marks: string) {
    this.world = world;
    this.cliType = cliType;
    this.marks = marks;
  }

  static async make({ home, projectDir, provider }: Stage): Promise<Clone> {
    const marks = join(home, 'marks');
    await mkdir(marks);
    execFileSync('git', ['init', '--quiet'], { cwd: projectDir });
    const world = await startWorld({}, { projectDir, agents: () => [provider] });
    onTestFinished(async () => world.end());
    return new Clone(world, provider.cliType, marks);
  }

  async write(files: Record<string, string>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.world.projectDir, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  }

  async ran(): Promise<string[]> {
    return (await readdir(this.marks)).toSorted();
  }

  async create(): Promise<{ sessionId: string; reader: Reader }> {
    const { runtime, projectDir } = this.world;
    const { sessionId } = await runtime.createSession({ cliType: this.cliType, projectDir });
    await runtime.loadSession(sessionId);
    return { sessionId, reader: new Reader(runtime, sessionId) };
  }

  /** Sends a message, and answers the question before it if one is expected. */
  async ask(
    { sessionId, reader }: Awaited<ReturnType<Clone['create']>>,
    optionId?: string,
  ): Promise<void> {
    const { turnId } = await this.world.runtime.send(sessionId, 'Hello');
    if (optionId !== undefined) {
      const waiting = (): ApprovalUpsert | undefined =>
        [...reader.items.values()].find(
          (item) => item.type === 'approval' && item.status === 'create',
        ) as ApprovalUpsert | undefined;
      await reader.until(() => waiting() !== undefined);
      const approvalId = waiting()?.approvalId ?? '';
      await this.world.runtime.answerApproval(sessionId, approvalId, { optionId });
    }
    await reader.until((one) =>
      one
        .ofType('session:turn')
        .some(({ payload }) => payload.turnId === turnId && payload.type !== 'turn_started'),
    );
  }
}

test.each(kinds)(
  'a clone’s programs run with $cliType only after users have accepted exactly its files',
  async ({ stage: makeStage, files, changed, runs }) => {
    const stage = await makeStage();
    const clone = await Clone.make(stage);
    await clone.write(files(clone.marks));
    const session = await clone.create();
    await clone.ask(session, 'without');
    await clone.ask(session);
    expect(await clone.ran()).toEqual([]);

    const next = await clone.create();
    await clone.ask(next, 'use');
    expect(await clone.ran()).toEqual(runs);
    await clone.ask(await clone.create());

    const text = await readFile(join(stage.projectDir, changed), 'utf8');
    await clone.write({ [changed]: text.replaceAll(clone.marks, `${clone.marks}/changed`) });
    await mkdir(join(clone.marks, 'changed'));
    await clone.ask(next, 'without');
    await clone.ask(next);
    expect(await readdir(join(clone.marks, 'changed'))).toEqual([]);
  },
);

test('a folder without such files needs no question, and files that are added later do not run before users have accepted them', async () => {
  const stage = await claudeStage();
  const clone = await Clone.make(stage);
  const noticed = join(stage.home, 'noticed');
  const command = `touch ${noticed}`;
  await mkdir(join(stage.home, '.claude'), { recursive: true });
  await writeFile(
    join(stage.home, '.claude', 'settings.json'),
    JSON.stringify({ hooks: { ConfigChange: [{ hooks: [{ type: 'command', command }] }] } }),
  );
  await clone.write({ 'CLAUDE.md': 'Be brief.' });
  const session = await clone.create();
  await clone.ask(session);
  await clone.write(ofClaude(clone.marks));
  await vi.waitFor(async () => access(noticed), { timeout: 60_000 });
  await clone.ask(session, 'without');
  expect(await clone.ran()).toEqual([]);
  await clone.ask(await clone.create(), 'use');
  expect(await clone.ran()).toContain('mcp');
});

test.each(kinds)(
  'with relative folders in PATH, $cliType starts no MCP server from a project’s programs',
  async ({ stage: makeStage }) => {
    const PATH = `./node_modules/.bin::.:${process.env['PATH']}`;
    const server = { type: 'stdio' as const, command: 'node', args: ['-e', ''], env: {} };
    const clone = await Clone.make(await makeStage({ env: { PATH }, mcpServers: { own: server } }));
    const program = `#!/bin/sh\ntouch ${clone.marks}/node\n`;
    await clone.write({ node: program, 'node_modules/.bin/node': program });
    for (const name of ['node', 'node_modules/.bin/node']) {
      await chmod(join(clone.world.projectDir, name), 0o755);
    }
    await clone.ask(await clone.create());
    expect(await clone.ran()).toEqual([]);
  },
);

test('Codex does not mark a folder as trusted in its user’s configuration, whether the folder has settings or not', async () => {
  const stage = await codexStage();
  const clone = await Clone.make(stage);
  const session = await clone.create();
  await clone.ask(session);
  await clone.write(ofCodex(clone.marks));
  await clone.ask(session, 'without');
  await clone.ask(session);
  await clone.world.runtime.kill(session.sessionId);
  const config = await readFile(join(stage.home, '.codex', 'config.toml'), 'utf8');
  expect(config).not.toContain('trust_level');
  expect(await clone.ran()).toEqual([]);
});
