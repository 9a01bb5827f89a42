/** Whether Claude Code can run here, and what is missing. */
import { createRequire } from 'node:module';
import { access, constants, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { z } from 'zod';
import { findProgram as findOnPath, shellWord } from '../base/find-program.ts';

const require = createRequire(import.meta.url);
const sdk = '@anthropic-ai/claude-agent-sdk';

const isMusl = (): boolean => {
  const report = z
    .looseObject({ header: z.looseObject({ glibcVersionRuntime: z.string().optional() }) })
    .safeParse(process.report.getReport()).data;
  return process.platform === 'linux' && report?.header.glibcVersionRuntime === undefined;
};

const credentialVariables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/** Describes Claude Code as it would run with this environment. Starts nothing. */
export async function describeClaude(env: NodeJS.ProcessEnv): Promise<AgentInfo> {
  const info = {
    cliType: 'claude-code',
    name: 'Claude Code',
    description: 'Anthropic’s coding agent.',
    mcpTransports: ['stdio', 'http', 'sse'],
  } satisfies Partial<AgentInfo>;
  const program = findProgram();
  if (program === undefined || !(await exists(program, constants.X_OK))) {
    const platform = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
    const reason = `The Claude Code program for ${platform} is not installed: run npm install, without leaving out optional packages.`;
    return { ...info, available: false, reason };
  }
  const version = programVersion();
  const found = { ...info, available: true, ...(version !== undefined && { version }) };
  if (await isSignedIn(env)) return found;
  const command = findOnPath('claude', env['PATH']) === undefined ? shellWord(program) : 'claude';
  const reason = `Not signed in. Run \`${command}\` in a terminal and sign in, or start Liminal with \`ANTHROPIC_API_KEY\` set.`;
  return { ...found, reason };
}

function findProgram(): string | undefined {
  const { platform, arch } = process;
  const names = isMusl() ? [`${platform}-${arch}-musl`] : [`${platform}-${arch}`];
  const file = platform === 'win32' ? 'claude.exe' : 'claude';
  return names.map((name) => resolve(`${sdk}-${name}/${file}`)).find((path) => path !== undefined);
}

function resolve(specifier: string): string | undefined {
  try {
    return require.resolve(specifier);
  } catch {
    return undefined;
  }
}

function programVersion(): string | undefined {
  const entry = resolve(sdk);
  if (entry === undefined) return undefined;
  const manifest: unknown = require(join(entry, '..', 'package.json'));
  return z.looseObject({ claudeCodeVersion: z.string() }).safeParse(manifest).data
    ?.claudeCodeVersion;
}

/** Whether there is a key or a login. On macOS a login is in the keychain, which is not read. */
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
