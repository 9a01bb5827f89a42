import { AcpProvider, type AcpProviderOptions } from '../acp/index.ts';
import { describeCodex } from './availability.ts';
import { findCodex } from './program.ts';
import { codexQuirks } from './quirks.ts';

export interface CodexOptions extends Pick<
  AcpProviderOptions,
  'args' | 'defaults' | 'env' | 'maxStarts' | 'mcpServers' | 'sharedProcess' | 'startLimitMs'
> {
  /** A program to run instead of the installed one. */
  command?: string;
  /** The environment for Codex. Default: this process's environment, which also says where sessions are stored. */
  inherited?: NodeJS.ProcessEnv;
}

/** Codex, through its ACP adapter. */
export function createCodexProvider(options: CodexOptions = {}): AcpProvider {
  const { inherited = process.env, env = {}, command, ...rest } = options;
  const full = { ...inherited, ...env };
  return new AcpProvider({
    cliType: 'codex',
    name: 'Codex',
    description: 'OpenAI’s coding agent.',
    command: command ?? (async () => (await findCodex(full['PATH']))?.path ?? 'codex-acp'),
    quirks: codexQuirks,
    inherited,
    env,
    ...(command === undefined && { describe: () => describeCodex(full) }),
    ...rest,
  });
}
