import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  startResponsesApi,
  type CodexHomeOptions,
  type ModelScript,
  type ResponsesApi,
  type Workspace,
} from '@liminal/testkit';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { CodexDriver, type CodexOptions } from '../../src/kinds/codex/index.ts';
import { Listener } from '../acp/running-agent.ts';

/** The real Codex with a scripted model and its own home. */
export interface CodexStage {
  api: ResponsesApi;
  workspace: Workspace;
  /** Makes another provider for the same home, as a new server does. */
  provide(): CodexProvider;
  close(): Promise<void>;
}

export type CodexProvider = DriverProvider<CodexDriver>;

interface StageOptions {
  files?: Record<string, string>;
  codex?: CodexHomeOptions;
  mcpServers?: CodexOptions['mcpServers'];
  env?: Record<string, string>;
  /** The model's address for Codex. Default: the scripted model. */
  modelUrl?: string;
}

export async function codexStage(
  makeScript: (workspace: Workspace) => ModelScript,
  options: StageOptions = {},
): Promise<CodexStage> {
  const workspace = await makeWorkspace(options.files);
  const api = await startResponsesApi({ script: makeScript(workspace) });
  await makeCodexHome(join(workspace.home, '.codex'), options.modelUrl ?? api.url, options.codex);
  const inherited = { ...codexEnvironment(workspace.home), ...options.env };
  // Codex' sandbox needs the folder.
  await mkdir(inherited['TMPDIR'] ?? workspace.home, { recursive: true });
  const providers: CodexProvider[] = [];
  return {
    api,
    workspace,
    provide: () => {
      const { mcpServers = {} } = options;
      const provider = new DriverProvider(
        new CodexDriver({ inherited, mcpServers }),
      ) as CodexProvider;
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

/** A scripted model, a home and a provider, which are closed after the test. */
export interface RunningCodex extends CodexStage {
  provider: CodexProvider;
  /** Creates a session and listens to it from before its beginning. */
  create(config?: Record<string, string>): Promise<Listener>;
}

export async function runCodex(...args: Parameters<typeof codexStage>): Promise<RunningCodex> {
  const stage = await codexStage(...args);
  onTestFinished(() => stage.close());
  return running(stage);
}

function running(stage: CodexStage): RunningCodex {
  const provider = stage.provide();
  const create = async (config?: Record<string, string>): Promise<Listener> => {
    const listener = new Listener(provider, randomUUID());
    await provider.createSession({
      projectDir: stage.workspace.projectDir,
      sessionId: listener.sessionId,
      ...(config && { config }),
    });
    return listener;
  };
  return { ...stage, provider, create };
}

/**
 * Like `runCodex`, but with one process for all tests of a file, because the start takes most of a test's time. Each
 * test has its own sessions, which end with the test, and its own model script, and sees only its own requests.
 */
export function sharedCodex(options: StageOptions = {}): typeof runCodex {
  let codex: RunningCodex;
  beforeAll(async () => {
    codex = running(await codexStage(() => [], options));
    // Keep one session open: the process ends with its last session.
    await codex.create();
  });
  afterAll(() => codex.close());
  return async (makeScript) => {
    const { api, provider } = codex;
    const before = api.requests.length;
    api.play(makeScript(codex.workspace));
    const own: ResponsesApi = {
      ...api,
      get requests() {
        return api.requests.slice(before);
      },
      request: (matches) =>
        api.request((one) => api.requests.indexOf(one) >= before && matches(one)),
    };
    const create = async (config?: Record<string, string>): Promise<Listener> => {
      const listener = await codex.create(config);
      onTestFinished(() => provider.killSession(listener.sessionId).catch(() => undefined));
      return listener;
    };
    return { ...codex, api: own, create };
  };
}
