/** Whether Claude Code can run here, and what is missing. */
import { access, constants, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { z } from 'zod';
import { findProgram, shellWord } from '../../base/find-program.ts';
import { findClaude, isMusl, oldestClaude } from './program.ts';

const credentialVariables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/** Describes Claude Code as it would run with this environment. Starts no session. */
export async function describeClaude(env: NodeJS.ProcessEnv): Promise<AgentInfo> {
  const info = {
    cliType: 'claude-code',
    name: 'Claude Code',
    description: 'Anthropic’s coding agent.',
    mcpTransports: ['stdio', 'http', 'sse'],
  } satisfies Partial<AgentInfo>;
  const { used, passedOver } = await findClaude(env['PATH']);
  if (used === undefined) {
    const platform = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
    const reason = `The Claude Code program for ${platform} is not installed: run npm install, without leaving out optional packages, or put claude ${oldestClaude} or newer on the search path.`;
    return { ...info, available: false, reason: passedOver ?? reason };
  }
  const { path, version } = used;
  const found = { ...info, available: true, program: path, ...(version && { version }) };
  const onPath = findProgram('claude', env['PATH']) !== undefined;
  const signIn = `Not signed in. Run \`${onPath ? 'claude' : shellWord(path)}\` in a terminal and sign in, or start Liminal with \`ANTHROPIC_API_KEY\` set.`;
  const troubles = [
    ...(passedOver ? [passedOver] : []),
    ...((await isSignedIn(env)) ? [] : [signIn]),
  ];
  return { ...found, ...(troubles.length > 0 && { reason: troubles.join(' ') }) };
}

/**
 * Returns whether there is a key or a login. On macOS, Claude Code stores the login in the keychain. Liminal does not
 * read the keychain.
 */
async function isSignedIn(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (credentialVariables.some((name) => (env[name] ?? '') !== '')) return true;
  if (process.platform === 'darwin') return true;
  const home = env['HOME'] ?? homedir();
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
  if (await exists(join(folder, '.credentials.json'), constants.R_OK)) return true;
  const account = await readJson(join(env['CLAUDE_CONFIG_DIR'] ?? home, '.claude.json'));
  const settings = await readJson(join(folder, 'settings.json'));
  const settingsEnv = asRecord(settings['env']);
  return (
    'primaryApiKey' in account ||
    'apiKeyHelper' in settings ||
    credentialVariables.some((name) => name in settingsEnv)
  );
}

const asRecord = (value: unknown): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).safeParse(value).data ?? {};

async function readJson(path: string): Promise<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

const exists = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
