/** Whether Codex can run here, and what is missing. */
import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { describeCommand } from '../base/find-program.ts';
import { findCodex, oldestCodex } from './program.ts';

const info = { cliType: 'codex', name: 'Codex', description: 'OpenAI’s coding agent.' };

const ownProvider = /^\s*model_provider\s*=\s*["'](?!openai["'])/m;

const keys = ['CODEX_API_KEY', 'OPENAI_API_KEY'];

/** Describes Codex as it would run with this environment. Starts no session. */
export async function describeCodex(
  env: NodeJS.ProcessEnv,
  command: string | undefined,
): Promise<AgentInfo> {
  if (command !== undefined) return describeCommand(info, command, env['PATH']);
  const program = await findCodex(env['PATH']);
  if (program === undefined) {
    const reason = `Codex for ${process.platform}-${process.arch} is not installed: run npm install, without leaving out optional packages, or put codex ${oldestCodex} or newer on the search path.`;
    return { ...info, available: false, reason };
  }
  const found = { ...info, available: true, version: program.version };
  if (await isSignedIn(env)) return found;
  const reason =
    'Can run but is not signed in: set OPENAI_API_KEY before starting Liminal, or run codex login once in a terminal.';
  return { ...found, reason };
}

/** Whether there is a key, a login, or a custom model provider, which may need neither. */
async function isSignedIn(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (keys.some((name) => (env[name] ?? '') !== '')) return true;
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const [hasLogin, config] = await Promise.all([
    access(join(folder, 'auth.json')).then(
      () => true,
      () => false,
    ),
    readFile(join(folder, 'config.toml'), 'utf8').catch(() => ''),
  ]);
  return hasLogin || ownProvider.test(config);
}
