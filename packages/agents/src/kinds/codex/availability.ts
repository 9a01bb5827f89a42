/** Whether Codex can run on this machine, and what is missing. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { z } from 'zod';
import { describeCommand, findProgram, shellWord } from '../../base/find-program.ts';
import { isRecord, parseLine } from '../../base/parse-line.ts';
import type { AppServer } from './app-server.ts';
import { findCodex, oldestCodex } from './program.ts';

const info = {
  cliType: 'codex',
  name: 'Codex',
  description: 'OpenAI’s coding agent.',
  mcpTransports: ['stdio', 'http'],
} satisfies Partial<AgentInfo>;

const ownProvider = /^[ \t]*model_provider[ \t]*=[ \t]*["'](?!openai["'])/m;
/** Matches a configuration whose login may be in a store that only Codex can read. */
const elsewhere = /^[ \t]*cli_auth_credentials_store[ \t]*=[ \t]*["'](?!file["'])/m;

/** @param codex - The command that starts Codex in a terminal. */
const signIn = (codex: string): string =>
  `Not signed in. Run \`${codex} login\` in a terminal, or, with a key, \`printenv OPENAI_API_KEY | ${codex} login --with-api-key\`.`;

const signedInLater =
  'Codex started before you signed in. It uses the new login once all of its sessions have ended.';

/** How long Codex may take to report its account, in ms. */
const accountLimitMs = 1_000;

const Account = z.looseObject({ account: z.unknown(), requiresOpenaiAuth: z.boolean() });

/**
 * Describes Codex as it would run with this environment. Starts no process.
 *
 * @param running - A running Codex, if any. Codex' answer about its login counts more than the login files.
 */
export async function describeCodex(
  env: NodeJS.ProcessEnv,
  command: string | undefined,
  running: Pick<AppServer, 'request' | 'within'> | undefined,
): Promise<AgentInfo> {
  if (command !== undefined) return describeCommand(info, command, env['PATH']);
  const program = await findCodex(env['PATH']);
  if (program === undefined) {
    const reason = `Codex for ${process.platform}-${process.arch} is not installed: run npm install, without leaving out optional packages, or put codex ${oldestCodex} or newer on the search path.`;
    return { ...info, available: false, reason };
  }
  const found = { ...info, available: true, version: program.version, program: program.path };
  const [reported, stored] = await Promise.all([running && isSignedIn(running), hasLogin(env)]);
  if (reported ?? stored) return found;
  const isOwn = findProgram('codex', env['PATH']) !== undefined;
  const login = signIn(isOwn ? 'codex' : shellWord(program.path));
  return { ...found, reason: stored ? signedInLater : login };
}

/** Returns whether a running Codex has the login that its model needs; undefined if Codex does not answer. */
async function isSignedIn(
  server: Pick<AppServer, 'request' | 'within'>,
): Promise<boolean | undefined> {
  const { signal } = new AbortController();
  const asked = server.request('account/read', {});
  const answer = await server.within(accountLimitMs, asked, signal).catch(() => undefined);
  const reported = Account.safeParse(answer).data;
  return reported && (reported.account != null || !reported.requiresOpenaiAuth);
}

/**
 * Returns whether there is a login, or a custom model provider, which may need no login. Codex ignores API keys in its
 * environment.
 */
async function hasLogin(env: NodeJS.ProcessEnv): Promise<boolean> {
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const read = (name: string): Promise<string> =>
    readFile(join(folder, name), 'utf8').catch(() => '');
  const [login, config] = await Promise.all([read('auth.json'), read('config.toml')]);
  return holdsLogin(login) || ownProvider.test(config) || elsewhere.test(config);
}

/** Returns whether the login file has a key or tokens: after a sign-out, Codex leaves the file without them. */
function holdsLogin(text: string): boolean {
  const login = parseLine(text);
  const besides = ['auth_mode', 'last_refresh'];
  return (
    isRecord(login) && Object.keys(login).some((name) => login[name] && !besides.includes(name))
  );
}
