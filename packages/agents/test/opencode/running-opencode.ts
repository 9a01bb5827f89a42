import { randomUUID } from 'node:crypto';
import {
  makeWorkspace,
  opencodeBinary,
  opencodeEnvironment,
  startMessagesApi,
  type MessagesApi,
  type Script,
  type Workspace,
} from '@liminal/testkit';
import { onTestFinished } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AcpDriver } from '../../src/kinds/acp/index.ts';
import { Listener } from '../acp/running-agent.ts';

/** Starts the real opencode with a scripted model, configured in the way of a user. */
export interface OpencodeStage {
  api: MessagesApi;
  workspace: Workspace;
  /** A new provider with the same home folder, as after a restart of the server. */
  provide(): DriverProvider<AcpDriver>;
  close(): Promise<void>;
}

export async function opencodeStage(
  makeScript: (workspace: Workspace) => Script,
  files: Record<string, string> = {},
): Promise<OpencodeStage> {
  const command = opencodeBinary();
  const workspace = await makeWorkspace(files);
  const api = await startMessagesApi({ script: makeScript(workspace) });
  const inherited = await opencodeEnvironment(workspace.home, api.url);
  const providers: DriverProvider<AcpDriver>[] = [];
  return {
    api,
    workspace,
    provide: () => {
      const names = { cliType: 'opencode', name: 'OpenCode', description: 'Named, not known.' };
      const provider = new DriverProvider(
        new AcpDriver({ ...names, command, args: ['acp'], inherited }),
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

/** Starts opencode with a model and a provider; all are closed after the test. */
export interface RunningOpencode extends OpencodeStage {
  provider: DriverProvider<AcpDriver>;
  /** Creates a session, and records all its events from the first. */
  create(): Promise<Listener>;
}

export async function runOpencode(
  ...args: Parameters<typeof opencodeStage>
): Promise<RunningOpencode> {
  const stage = await opencodeStage(...args);
  onTestFinished(() => stage.close());
  const provider = stage.provide();
  const create = async (): Promise<Listener> => {
    const listener = new Listener(provider, randomUUID());
    const { projectDir } = stage.workspace;
    await provider.createSession({ projectDir, sessionId: listener.sessionId });
    return listener;
  };
  return { ...stage, provider, create };
}
