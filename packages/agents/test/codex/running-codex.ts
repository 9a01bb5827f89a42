import { randomUUID } from 'node:crypto';
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
import { onTestFinished } from 'vitest';
import type { AcpProvider } from '../../src/acp/index.ts';
import { createCodexProvider, type CodexOptions } from '../../src/codex/index.ts';
import { Listener } from '../acp/running-agent.ts';

/** The real Codex with a scripted model and its own home. */
export interface CodexStage {
  api: ResponsesApi;
  workspace: Workspace;
  /** A provider for that home, as a new server has it. */
  provide(): AcpProvider;
  close(): Promise<void>;
}

interface StageOptions {
  files?: Record<string, string>;
  codex?: CodexHomeOptions;
  mcpServers?: CodexOptions['mcpServers'];
}

export async function codexStage(
  makeScript: (workspace: Workspace) => ModelScript,
  options: StageOptions = {},
): Promise<CodexStage> {
  const workspace = await makeWorkspace(options.files);
  const api = await startResponsesApi({ script: makeScript(workspace) });
  await makeCodexHome(join(workspace.home, '.codex'), api.url, options.codex);
  const providers: AcpProvider[] = [];
  return {
    api,
    workspace,
    provide: () => {
      const { mcpServers = {} } = options;
      const inherited = codexEnvironment(workspace.home);
      const provider = createCodexProvider({ inherited, mcpServers });
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

/** A stage with a provider; it is closed after the test. */
export interface RunningCodex extends CodexStage {
  provider: AcpProvider;
  /** Creates a session and listens to it from before its beginning. */
  create(config?: Record<string, string>): Promise<Listener>;
}

export async function runCodex(...args: Parameters<typeof codexStage>): Promise<RunningCodex> {
  const stage = await codexStage(...args);
  onTestFinished(() => stage.close());
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
