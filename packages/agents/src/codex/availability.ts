/** Whether Codex can run here, and what is missing. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo } from '@liminal/protocol';
import { z } from 'zod';
import { describeCommand, findProgram, shellWord } from '../base/find-program.ts';
import { isRecord, parseLine } from '../base/parse-line.ts';
import type { AppServer } from './app-server.ts';
import { findCodex, oldestCodex } from './program.ts';

const info = {
  cliType: 'codex',
  name: 'Codex',
  description: 'OpenAI’s coding agent.',
  mcpTransports: ['stdio', 'http'],
} satisfies Partial<AgentInfo>;

const ownProvider = /^[ \t]*model_provider[ \t]*=[ \t]*["'](?!openai["'])/m;
/** Then a login may be where only Codex can look. */
const elsewhere = /^[ \t]*cli_auth_credentials_store[ \t]*=[ \t]*["'](?!file["'])/m;

/** @param codex - How people start the program in a terminal. */
const signIn = (codex: string): string =>
  `Not signed in. Run \`${codex} login\` in a terminal, or, with a key, \`printenv OPENAI_API_KEY | ${codex} login --with-api-key\`.`;

const signedInLater =
  'Runs, but began before you signed in: it takes up the new login once all of its sessions have ended.';

/** How long Codex may take to say who is signed in, ms. */
const accountLimitMs = 1_000;

const Account = z.looseObject({ account: z.unknown(), requiresOpenaiAuth: z.boolean() });

/**
 * Describes Codex as it would run with this environment. Starts nothing.
 *
 * @param running - Is asked, if there is one: Codex itself knows best.
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
  const [told, stored] = await Promise.all([running && accountOf(running), hasLogin(env)]);
  if (told ?? stored) return found;
  const isOwn = findProgram('codex', env['PATH']) !== undefined;
  const login = signIn(isOwn ? 'codex' : shellWord(program.path));
  return { ...found, reason: stored ? signedInLater : login };
}

/** Whether a running Codex has what it needs to ask its model; undefined if it does not say. */
async function accountOf(
  server: Pick<AppServer, 'request' | 'within'>,
): Promise<boolean | undefined> {
  const { signal } = new AbortController();
  const asked = server.request('account/read', {});
  const answer = await server.within(accountLimitMs, asked, signal).catch(() => undefined);
  const told = Account.safeParse(answer).data;
  return told && (told.account != null || !told.requiresOpenaiAuth);
}

/** Whether there is a login, or a custom model provider, which may need none. Of keys in its environment Codex makes no use. */
async function hasLogin(env: NodeJS.ProcessEnv): Promise<boolean> {
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const read = (name: string): Promise<string> =>
    readFile(join(folder, name), 'utf8').catch(() => '');
  const [login, config] = await Promise.all([read('auth.json'), read('config.toml')]);
  return holdsLogin(login) || ownProvider.test(config) || elsewhere.test(config);
}

/** Whether the file has a key or tokens: Codex leaves it there without any when one signs out. */
function holdsLogin(text: string): boolean {
  const login = parseLine(text);
  const besides = ['auth_mode', 'last_refresh'];
  return (
    isRecord(login) && Object.keys(login).some((name) => login[name] && !besides.includes(name))
  );
}
