import { randomUUID } from 'node:crypto';
import { setImmediate as untilRead } from 'node:timers/promises';
import { acpAgent, makeWorkspace, type AcpAgentControl, type AgentScript } from '@liminal/testkit';
import {
  emptyResponse,
  foldResponse,
  toResponse,
  type ApprovalAnswer,
  type ContentBlock,
  type Response,
} from '@liminal/protocol';
import { onTestFinished } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AcpDriver, type AcpProviderOptions } from '../../src/kinds/acp/index.ts';
import type { CliProvider, CreateSessionOptions } from '../../src/contract/provider.ts';
import { Watch } from '../../src/testing/watch.ts';

/** A provider with the scripted agent, in its own workspace. */
export interface RunningAgent {
  provider: DriverProvider<AcpDriver>;
  control: AcpAgentControl;
  projectDir: string;
  /** Creates a session, and records all its events from the first. */
  create(options?: Partial<CreateSessionOptions>): Promise<Listener>;
  /**
   * Returns all methods that the agent received. Ends the provider's processes first, so that no call is still in
   * transit.
   */
  calls(): Promise<string[]>;
  /** Returns another provider for the same agent, which does not know the first provider's sessions. */
  another(options?: Partial<AcpProviderOptions>): DriverProvider<AcpDriver>;
}

interface RunOptions {
  provider?: Partial<AcpProviderOptions>;
  files?: Record<string, string>;
  /** Further arguments of the `node` that runs the agent. */
  nodeArgs?: string[];
  /** Starts the agent through a launcher program, which shares its pipes with the agent. */
  isLaunched?: boolean;
}

/** The launcher: starts a program that shares its pipes, and ends with that program. */
const launcher = `const { spawn } = require('node:child_process');
  const [command, ...args] = process.argv.slice(1);
  spawn(command, args, { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1));`;

/** Starts the provider, which is closed after the test. */
export async function runAgent(
  script: AgentScript = {},
  options: RunOptions = {},
): Promise<RunningAgent> {
  const { projectDir, remove } = await makeWorkspace(options.files);
  const { env, control, ...agent } = await acpAgent(script);
  const command = options.isLaunched === true ? process.execPath : agent.command;
  const behind = ['-e', launcher, agent.command, ...agent.args];
  const { nodeArgs = [] } = options;
  const args = options.isLaunched === true ? behind : [...nodeArgs, ...agent.args];
  const providers: DriverProvider<AcpDriver>[] = [];
  const another = (more: Partial<AcpProviderOptions> = {}): DriverProvider<AcpDriver> => {
    const names = { cliType: 'scripted', name: 'Scripted', description: 'Plays a script.' };
    const made = new DriverProvider(
      new AcpDriver({ ...names, command, args, env, ...options.provider, ...more }),
    );
    providers.push(made);
    return made;
  };
  const provider = another();
  onTestFinished(async () => {
    await Promise.all(providers.map((one) => one.close()));
    await control.close();
    await remove();
  });
  const create = async (more: Partial<CreateSessionOptions> = {}): Promise<Listener> => {
    const listener = new Listener(provider, more.sessionId ?? randomUUID());
    await provider.createSession({ projectDir, sessionId: listener.sessionId, ...more });
    return listener;
  };
  const calls = async (): Promise<string[]> => {
    await Promise.all(providers.map((one) => one.close()));
    await Promise.all(control.processes.map(({ gone }) => gone));
    await untilRead();
    return control.received.flatMap(({ method }) => method ?? []);
  };
  return { provider, control, projectDir, create, another, calls };
}

/** Records all events of one session. */
export class Listener extends Watch {
  readonly sessionId: string;
  readonly #provider: CliProvider;

  constructor(provider: CliProvider, sessionId: string) {
    super(provider, sessionId);
    this.sessionId = sessionId;
    this.#provider = provider;
  }

  async send(message: string, blocks: readonly ContentBlock[] = []): Promise<string> {
    return (await this.#provider.sendMessage(this.sessionId, message, { blocks })).turnId;
  }

  /** Sends a message and waits for the end of its turn. */
  async ask(message: string, blocks: readonly ContentBlock[] = []): Promise<Response> {
    return this.response(await this.send(message, blocks));
  }

  /** Waits for the end of a turn, and returns the turn. */
  async response(turnId: string): Promise<Response> {
    const events = await this.ended(turnId);
    const response = toResponse(events.reduce(foldResponse, emptyResponse()));
    if (response === undefined) throw new Error('The turn has not begun.');
    return response;
  }

  /** Waits for a permission request in a turn. */
  async asked(turnId: string) {
    const request = await this.until(() =>
      this.of(turnId)
        .map(({ payload }) => payload)
        .findLast((payload) => payload.type === 'item_start' && payload.itemType === 'approval'),
    );
    if (request.type !== 'item_start' || request.approvalId === undefined)
      throw new Error('The item is not a permission request.');
    const { approvalId } = request;
    const answer = (optionId: string, more: Omit<ApprovalAnswer, 'optionId'> = {}) =>
      this.#provider.answerApproval?.(this.sessionId, approvalId, { optionId, ...more });
    return { ...request, approvalId, answer };
  }

  /** Returns the current value of a config option. */
  option(id: string): string | undefined {
    const told = this.updates.findLast(({ configOptions }) => configOptions !== undefined);
    return told?.configOptions?.find((option) => option.id === id)?.currentValue;
  }

  /** Returns the agent's own id of the session. */
  async agentSessionId(): Promise<string> {
    return this.until(() => this.updates.findLast((one) => one.agentSessionId)?.agentSessionId);
  }
}

/** Returns the messages of a turn, with their speakers. */
export const messagesOf = (response: Response): string[] =>
  response.outputItems.flatMap((item) =>
    item.type === 'message' ? [`${item.origin}: ${item.content}`] : [],
  );
