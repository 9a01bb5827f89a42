import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  answer,
  codexAcpCommand,
  codexBinary,
  codexEnvironment,
  httpError,
  makeCodexHome,
  makeWorkspace,
  startResponsesApi,
  type ModelScript,
  type ResponsesApi,
  type Workspace,
} from '@liminal/testkit';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { AcpProvider, type AcpProviderOptions } from '../../src/acp/index.ts';
import { processesOf } from '../claude-code/processes.ts';
import { Listener } from './running-agent.ts';

/** The real `codex-acp` and the real Codex, with a scripted model and their own home, as from a configuration. */
export interface AdapterStage {
  api: ResponsesApi;
  workspace: Workspace;
  /** The whole environment of the adapter. */
  env: Record<string, string>;
  /** Replaces what the model says from now on. */
  play(script: ModelScript): void;
  /** A provider for that home, as a new server has it. */
  provide(): AcpProvider;
  close(): Promise<void>;
}

interface StageOptions {
  files?: Record<string, string>;
  /** The mode of new sessions, which Codex' own configuration does not set. Default: it may do all without asking. */
  mode?: 'agent-full-access' | 'workspace-write';
  mcpServers?: AcpProviderOptions['mcpServers'];
}

export async function adapterStage(
  makeScript: (workspace: Workspace) => ModelScript,
  { files, mode = 'agent-full-access', mcpServers = {} }: StageOptions = {},
): Promise<AdapterStage> {
  const workspace = await makeWorkspace(files);
  const api = await startResponsesApi({ script: besideTitles(makeScript(workspace)) });
  await makeCodexHome(join(workspace.home, '.codex'), api.url);
  const inherited = codexEnvironment(workspace.home);
  await mkdir(inherited['TMPDIR'] ?? workspace.home, { recursive: true });
  const { command, args, env } = codexAcpCommand();
  const own = { ...env, INITIAL_AGENT_MODE: mode, CODEX_CONFIG: JSON.stringify(withPlans) };
  const providers: AcpProvider[] = [];
  return {
    api,
    workspace,
    env: { ...inherited, ...own },
    play: (script) => api.play(besideTitles(script)),
    provide: () => {
      const provider = new AcpProvider({
        cliType: 'codex-acp',
        name: 'Codex over ACP',
        description: 'Named, not known.',
        command,
        args,
        env: own,
        inherited,
        mcpServers,
      });
      providers.push(provider);
      return provider;
    },
    close: async () => {
      await Promise.all(providers.map((provider) => provider.close()));
      await api.close();
      await workspace.remove();
    },
  };
}

const withPlans = { tools: { update_plan: { enabled: true } } };

/** The adapter asks a model of its own for a title after the first turn: that is not part of the story. */
function besideTitles(script: ModelScript): ModelScript {
  const left = Array.isArray(script) ? [...script] : undefined;
  return (request) => {
    if (!request.body.model.startsWith('scripted')) return answer('{"title":"A title"}');
    if (typeof script === 'function') return script(request);
    return left?.shift() ?? httpError(400, `There is no reply for “${request.prompt}”.`);
  };
}

/** A stage with a provider; it is closed after the test. */
export interface RunningAdapter extends AdapterStage {
  provider: AcpProvider;
  /** Creates a session and listens to it from before its beginning. */
  create(config?: Record<string, string>): Promise<Listener>;
}

export async function runAdapter(
  ...args: Parameters<typeof adapterStage>
): Promise<RunningAdapter> {
  const stage = await adapterStage(...args);
  onTestFinished(() => stage.close());
  return running(stage);
}

function running(stage: AdapterStage): RunningAdapter {
  const provider = stage.provide();
  const create = async (config: Record<string, string> = {}): Promise<Listener> => {
    const listener = new Listener(provider, randomUUID());
    const { projectDir } = stage.workspace;
    await provider.createSession({ projectDir, sessionId: listener.sessionId, config });
    return listener;
  };
  return { ...stage, provider, create };
}

/**
 * One session that all tests of a `describe` have their turns in, one after another. What this returns gives a test the
 * session, heard from now on, with what the model says in it; `first` has heard all of it.
 */
export function sharedAdapter(options: StageOptions) {
  let adapter: RunningAdapter;
  let first: Listener;
  beforeAll(async () => {
    adapter = running(await adapterStage(() => [], options));
    first = await adapter.create();
  });
  afterAll(() => adapter.close());
  return (script: ModelScript) => {
    adapter.play(script);
    return { ...adapter, first, listener: new Listener(adapter.provider, first.sessionId) };
  };
}

/** The adapters that run in a home, each of which runs one Codex. */
export const adaptersIn = (home: string): number[] =>
  processesOf(home).filter((pid) => argumentsOf(pid).includes('codex-acp'));

/** What those have started: neither adapters nor Codex. */
export const commandsIn = (home: string): number[] =>
  processesOf(home).filter((pid) => {
    const line = argumentsOf(pid);
    return !line.includes('codex-acp') && !line.includes(`${basename(codexBinary())}\0app-server`);
  });

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
