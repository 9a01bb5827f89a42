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
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AcpDriver, type AcpProviderOptions } from '../../src/kinds/acp/index.ts';
import { processesOf } from '../claude-code/processes.ts';
import { Listener } from './running-agent.ts';

/** The real `codex-acp` and Codex, with a scripted model and a home of their own, started as a configuration would. */
export interface AdapterStage {
  api: ResponsesApi;
  workspace: Workspace;
  /** The whole environment of the adapter. */
  env: Record<string, string>;
  /** Replaces the model's script. */
  play(script: ModelScript): void;
  /** Returns a new provider for the home, as a new server would have. */
  provide(): DriverProvider<AcpDriver>;
  close(): Promise<void>;
}

interface StageOptions {
  files?: Record<string, string>;
  /** The mode of new sessions; Codex' own configuration does not set it. Default: full access without asking. */
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
  const providers: DriverProvider<AcpDriver>[] = [];
  return {
    api,
    workspace,
    env: { ...inherited, ...own },
    play: (script) => api.play(besideTitles(script)),
    provide: () => {
      const provider = new DriverProvider(
        new AcpDriver({
          cliType: 'codex-acp',
          name: 'Codex over ACP',
          description: 'Named, not known.',
          command,
          args,
          env: own,
          inherited,
          mcpServers,
        }),
      );
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

/** Answers requests for titles: after the first turn the adapter asks another model for one. */
function besideTitles(script: ModelScript): ModelScript {
  const left = Array.isArray(script) ? [...script] : undefined;
  return (request) => {
    if (!request.body.model.startsWith('scripted')) return answer('{"title":"A title"}');
    if (typeof script === 'function') return script(request);
    return left?.shift() ?? httpError(400, `There is no reply for “${request.prompt}”.`);
  };
}

/** A scripted model, a home and a provider, which are closed after the test. */
export interface RunningAdapter extends AdapterStage {
  provider: DriverProvider<AcpDriver>;
  /** Creates a session, and records all its events from the first. */
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
 * Shares one session among the tests of a `describe`, which run their turns in it one after another. Returns a function
 * that sets the model's script and returns the session with a new listener; `first` has recorded all events.
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

/** The pids of the adapters in a home; each adapter runs one Codex. */
export const adaptersIn = (home: string): number[] =>
  processesOf(home).filter((pid) => argumentsOf(pid).includes('codex-acp'));

/** The pids of the processes in a home that are neither adapters nor Codex. */
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
