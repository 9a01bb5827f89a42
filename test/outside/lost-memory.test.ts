/**
 * Tests agents that have lost their own memory of a session. Liminal keeps the conversation, and the agent begins a new
 * session.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentDriver } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { CodexDriver } from '@liminal/agents/codex';
import {
  acpAgent,
  type AgentScript,
  answer,
  claudeEnvironment,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  reply,
  startMessagesApi,
  startResponsesApi,
} from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serverStage } from './server-stage.ts';

interface Kind {
  projectDir: string;
  provide: () => AgentDriver;
  /** Deletes the agent's own memory. */
  forget: () => Promise<void>;
}

async function claude(forget: (folder: string) => Promise<void>): Promise<Kind> {
  const { home, projectDir, remove } = await makeWorkspace();
  const api = await startMessagesApi({ script: ({ prompt }) => reply(`So: ${prompt}`) });
  const env = claudeEnvironment(home, api.url);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await api.close();
    await remove();
  });
  const provide = () => new ClaudeDriver({ env });
  return { projectDir, provide, forget: () => forget(join(home, '.claude', 'projects')) };
}

async function codex(): Promise<Kind> {
  const { home, projectDir, remove } = await makeWorkspace();
  const api = await startResponsesApi({ script: ({ prompt }) => answer(`So: ${prompt}`) });
  await makeCodexHome(join(home, '.codex'), api.url);
  const inherited = codexEnvironment(home);
  await mkdir(inherited['TMPDIR'] ?? home, { recursive: true });
  onTestFinished(async () => {
    await api.close();
    await remove();
  });
  const forget = async () => rm(join(home, '.codex', 'sessions'), { recursive: true });
  return { projectDir, provide: () => new CodexDriver({ inherited }), forget };
}

async function acp(offers: NonNullable<AgentScript['offers']>): Promise<Kind> {
  const { projectDir, remove } = await makeWorkspace();
  const { command, args, env, control } = await acpAgent({ offers });
  onTestFinished(async () => {
    await control.close();
    await remove();
  });
  const names = { cliType: 'scripted', name: 'Scripted', description: 'Plays a script.' };
  const provide = () => new AcpDriver({ ...names, command, args, env });
  const sessions = join(args.at(-1)!, 'sessions');
  return { projectDir, provide, forget: async () => rm(sessions, { recursive: true }) };
}

async function deleteTranscripts(projects: string): Promise<void> {
  for (const name of await readdir(projects, { recursive: true })) {
    if (name.endsWith('.jsonl')) await rm(join(projects, name));
  }
}

const kinds: [string, () => Promise<Kind>][] = [
  ['Claude Code deleted its transcript', () => claude(deleteTranscripts)],
  ['Claude Code’s folder is gone', () => claude((folder) => rm(folder, { recursive: true }))],
  ['Codex’s rollouts are gone', codex],
  ['an ACP agent does not find the session to load', () => acp({ load: true })],
  ['an ACP agent does not find the session to resume', () => acp({ load: false, resume: true })],
  ['an ACP agent stores no sessions', () => acp({ load: false })],
];

test.each(kinds)(
  'when %s, the history stays, and the next messages are answered; the first answer has a notice about the loss',
  async (_, make) => {
    const { projectDir, provide, forget } = await make();
    const stage = await serverStage(projectDir, provide);
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'Before.');
    const before = await stage.history(sessionId);
    expect(before).toContain('user: Before.');
    await stage.restart();
    await forget();

    await stage.runTurn(sessionId, 'After.');
    const after = (await stage.history(sessionId)).slice(before.length);
    expect(after[0]).toBe('user: After.');
    expect(after[1]).toMatch(/^system: .*does not know what was said before/);
    expect(after).toHaveLength(3);

    // The agent remembers the messages that were sent after it lost its memory.
    await stage.restart();
    await stage.runTurn(sessionId, 'Again.');
    const history = await stage.history(sessionId);
    expect(history.slice(0, before.length + 3)).toEqual([...before, ...after]);
    expect(history.slice(before.length + 3)[0]).toBe('user: Again.');
  },
);

test.each(kinds.slice(0, 3))(
  'when %s, a session that was made in a terminal also continues, even if Liminal had only read its history',
  async (_, make) => {
    const { projectDir, provide, forget } = await make();
    const elsewhere = await serverStage(projectDir, provide);
    const own = await elsewhere.create();
    await elsewhere.runTurn(own, 'Before.');
    const sessionId = await elsewhere.agentSession(own);
    const stage = await serverStage(projectDir, provide);
    await stage.runtime.findSessions(stage.cliType);
    await stage.runtime.loadSession(sessionId);
    const before = await stage.history(sessionId);
    await forget();
    await stage.restart();

    await stage.runTurn(sessionId, 'After.');
    const history = await stage.history(sessionId);
    expect(history.slice(0, before.length)).toEqual(before);
    expect(history[before.length + 1]).toMatch(/does not know what was said before/);
  },
);
