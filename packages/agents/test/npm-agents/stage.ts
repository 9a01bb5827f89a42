/** Starts a real agent from npm with a scripted model; the agent is configured only by its command. */
import { randomUUID } from 'node:crypto';
import { makeWorkspace, npmAgent, type Workspace } from '@liminal/testkit';
import { onTestFinished } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AcpDriver } from '../../src/kinds/acp/index.ts';
import { Listener } from '../acp/running-agent.ts';

interface ScriptedModel {
  readonly url: string;
  close(): Promise<void>;
}

interface StageOptions<Model> {
  agent: 'gemini' | 'qwen';
  startModel: (workspace: Workspace) => Promise<Model>;
  environment: (home: string, modelUrl: string) => Promise<Record<string, string>>;
  files?: Record<string, string>;
}

/** Starts an agent and its model; the caller closes both. */
export async function npmStage<Model extends ScriptedModel>({
  agent,
  startModel,
  environment,
  files = {},
}: StageOptions<Model>) {
  const command = await npmAgent(agent);
  const workspace = await makeWorkspace(files);
  const model = await startModel(workspace);
  const inherited = await environment(workspace.home, model.url);
  const providers: DriverProvider<AcpDriver>[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(providers.map((provider) => provider.close()));
    await model.close();
    await workspace.remove();
  };
  const provide = (): DriverProvider<AcpDriver> => {
    const names = { cliType: agent, name: agent, description: 'Named, not known.' };
    // Programs of this size start slowly on a busy machine.
    const limits = { startLimitMs: 100_000, openLimitMs: 100_000 };
    const provider = new DriverProvider(
      new AcpDriver({ ...names, ...limits, command, args: ['--acp'], inherited }),
    );
    providers.push(provider);
    return provider;
  };
  return { model, workspace, projectDir: workspace.projectDir, provide, close };
}

/** Starts an agent and its model; both are closed after the test. */
export async function runNpmAgent<Model extends ScriptedModel>(options: StageOptions<Model>) {
  const { close, ...stage } = await npmStage(options);
  onTestFinished(close);
  const provider = stage.provide();
  const create = async (): Promise<Listener> => {
    const listener = new Listener(provider, randomUUID());
    const { projectDir } = stage;
    await provider.createSession({ projectDir, sessionId: listener.sessionId });
    return listener;
  };
  return { ...stage, provider, create };
}
