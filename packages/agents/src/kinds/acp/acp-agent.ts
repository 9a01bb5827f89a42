import { BoundedMap } from '@liminal/protocol';
import { basename } from 'node:path';
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { AcpConnection } from './acp-connection.ts';
import { AgentProcess, type ProcessCommand } from '../../base/agent-process.ts';
import { Lifetime } from '../../base/lifetime.ts';
import { notFound } from './client-side/client-error.ts';
import { serveClient } from './client-side/serve.ts';
import type { SessionClient } from './client-side/session-client.ts';
import { EarlyUpdates } from './early-updates.ts';
import { readAuthMethods, readRpcError, rpc, type AuthMethod } from './errors.ts';
import { isConversation } from './translate/conversation.ts';
import { updateType } from './translate/fields.ts';
import { loadSdk, type AcpSdk } from './sdk.ts';

/** Messages to the running turn, in the form that Qwen Code expects. */
export interface SteeredMessages {
  messages: string[];
  items: { content: object[]; displayText: string }[];
  /** Whether another prompt waits for the turn's end: never, as Liminal sends one prompt at a time. */
  hasQueuedPrompt: false;
}

/** A session that runs in an agent's process. */
export interface HostedSession {
  /** Serves the agent's requests in this session; without a client, the requests are refused. */
  readonly client?: SessionClient;
  /** Handles `params.update` of a `session/update`, unparsed. */
  onUpdate(update: unknown): void;
  /** Whether a turn runs. */
  readonly isBusy?: boolean;
  /** Returns whether the agent has reported that the session `sessionId` belongs to a subagent of this session. */
  hasChild?(sessionId: string): boolean;
  /** Handles `params.update` of a `session/update` of a subagent's session. */
  onChildUpdate?(sessionId: string, update: unknown): void;
  /** Returns the waiting messages to the running turn, and counts them as delivered. */
  takeSteered?(): SteeredMessages;
  onGone(reason: Error): void;
}

const offered = z
  .unknown()
  .transform((value) => value !== undefined && value !== null && value !== false);

const Initialised = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z
    .looseObject({
      loadSession: offered,
      mcpCapabilities: z.unknown(),
      promptCapabilities: z.looseObject({ image: offered }).partial().catch({}),
      sessionCapabilities: z
        .looseObject({
          list: offered,
          resume: offered,
          close: offered,
          delete: offered,
          fork: offered,
          title: offered,
          additionalDirectories: offered,
        })
        .partial()
        .catch({}),
    })
    .partial()
    .catch({}),
  agentInfo: z
    .looseObject({ name: z.string(), title: z.string().nullish(), version: z.string() })
    .partial()
    .optional()
    .catch(undefined),
});
type Initialised = z.infer<typeof Initialised>;
export type Capabilities = Initialised['agentCapabilities'];

const protocolVersion = 1;
/**
 * Agents that ask, between tool calls, for messages to the running turn: Qwen Code 0.24. The names are those that the
 * agents report.
 */
const messagePollingAgents = new Set(['qwen-code']);
/** How long an agent may take to close a session, ms. */
const closeLimitMs = 500;

/** The options for starting an agent. */
export interface AgentStart {
  command: ProcessCommand;
  /** Whether the agent may read and write files of the project through Liminal. */
  offersFiles: boolean;
  /** How long the agent may take to answer `initialize`, ms. */
  limitMs: number;
  /** Whether the agent has answered before: then its command and arguments are right. */
  hasAnswered: boolean;
}

/** A running agent that has been initialised, and the sessions that run in its process. */
export class AcpAgent {
  readonly #process: AgentProcess;
  readonly #connection: AcpConnection;
  readonly #env: NodeJS.ProcessEnv;
  readonly #sessions = new Map<unknown, HostedSession>();
  readonly #early = new EarlyUpdates((sessionId, update) => this.#onChild(sessionId, update));
  /**
   * The ids of sessions that have ended in this process: late updates of these sessions do not belong to a subagent.
   */
  readonly #left = new BoundedMap<unknown, true>(1_000);
  readonly #life = new Lifetime();
  #isAlive = true;
  #capabilities: Capabilities = {};
  #authMethods: AuthMethod[] = [];
  #info: Initialised['agentInfo'];
  #ended: Promise<void> | undefined;

  /** Starts the program. Rejects if the agent does not answer `initialize` within `limitMs`, and leaves no process. */
  static async start(start: AgentStart, signal: AbortSignal): Promise<AcpAgent> {
    const { command, offersFiles, limitMs } = start;
    signal.throwIfAborted();
    const process = new AgentProcess(command);
    // The library is loaded while the program starts.
    const sdk = await loadSdk();
    const agent = new AcpAgent(sdk, process, { ...command.inherited, ...command.env });
    try {
      await agent.within(limitMs, agent.#initialise(offersFiles), signal, silence(start));
      return agent;
    } catch (error) {
      await agent.end();
      throw new Error(agent.explain(error), { cause: error });
    }
  }

  private constructor(sdk: AcpSdk, process: AgentProcess, env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#process = process;
    const app = serveClient(sdk, {
      find: (scope) => this.#find(scope),
      complete: (elicitationId) => {
        for (const { client } of this.#sessions.values()) client?.completeLink(elicitationId);
      },
      takeSteered: (sessionId) => this.#sessions.get(sessionId)?.takeSteered?.() ?? {},
    });
    this.#connection = new AcpConnection(app, (line) => this.#process.write(line), {
      onUpdate: (sessionId, update) => this.#onUpdate(sessionId, update),
      onNoise: (line) => this.#process.note(line),
    });
    void process.listen({
      onLine: (line) => this.#connection.read(line),
      onGone: (reason) => this.#onGone(reason),
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#authMethods;
  }

  get protocolVersion(): number {
    return protocolVersion;
  }

  /** The version that the agent reports. */
  get version(): string | undefined {
    return this.#info?.version;
  }

  /** The agent's own name. */
  get title(): string | undefined {
    return this.#info?.title ?? this.#info?.name;
  }

  /** Whether the agent can copy a conversation and later open the copy. */
  get forks(): boolean {
    const { loadSession, sessionCapabilities: can } = this.#capabilities;
    return can?.fork === true && (loadSession === true || can.resume === true);
  }

  /** Returns whether a session lives in this process. */
  hosts(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** Whether the agent asks, between tool calls, for messages to the running turn. */
  get asksForMessages(): boolean {
    return messagePollingAgents.has(this.#info?.name ?? '');
  }

  /**
   * Sends a request; resolves with the raw answer. Rejects with the library's RequestError, or with why the process
   * ended.
   */
  request(method: string, params: unknown): Promise<unknown> {
    return this.#connection.request(method, params);
  }

  /** Sends a request that opens a session; signs in with a key from the environment if the agent requires a sign-in. */
  async open(method: string, params: unknown): Promise<unknown> {
    try {
      return await this.request(method, params);
    } catch (error) {
      const key = this.#keyMethod();
      if (readRpcError(error)?.code !== rpc.authRequired || key === undefined) throw error;
      await this.request('authenticate', { methodId: key.id });
      return this.request(method, params);
    }
  }

  /** Sends `session/new`; `take` must admit the session with the id in the answer. */
  begin<T>(params: unknown, take: (answer: unknown) => T): Promise<T> {
    return this.#early.during(async () => take(await this.open('session/new', params)));
  }

  notify(method: string, params: unknown): void {
    this.#connection.notify(method, params);
  }

  /** Routes updates to their session, including updates that arrived before the answer to `session/new`. */
  admit(sessionId: string, session: HostedSession): void {
    this.#sessions.set(sessionId, session);
    this.#left.delete(sessionId);
    for (const update of this.#early.take(sessionId)) session.onUpdate(update);
  }

  /**
   * Forgets a session, and asks the agent to close the session if the agent can. Resolves to true if the agent closed
   * the session.
   */
  async leave(sessionId: string): Promise<boolean> {
    this.#sessions.delete(sessionId);
    this.#left.set(sessionId, true);
    if (!this.#isAlive || this.#capabilities.sessionCapabilities?.close !== true) return false;
    const closed = this.request('session/close', { sessionId }).then(
      () => true,
      () => false,
    );
    return Promise.race([closed, timeout(closeLimitMs)]);
  }

  /** Returns why the process ended, followed by the other output since the last `forgetOutput`. */
  explain(reason: unknown): string {
    return this.#process.explain(reason);
  }

  forgetOutput(): void {
    this.#process.forgetOutput();
  }

  /** Ends the process and all processes that it started. */
  end(isWarned = false): Promise<void> {
    this.#isAlive = false;
    this.#ended ??= this.#process.end(isWarned);
    return this.#ended;
  }

  /** Resolves with the result of `work`. Rejects if `work` takes too long, the process ends, or the signal aborts. */
  async within<T>(
    limitMs: number,
    work: Promise<T>,
    signal?: AbortSignal,
    tooLong = `The agent took longer than ${inSeconds(limitMs)}.`,
  ): Promise<T> {
    return this.#life.withinLimit(work, limitMs, { tooLong, signal });
  }

  async #initialise(offersFiles: boolean): Promise<void> {
    const answer = await this.request('initialize', {
      protocolVersion,
      clientInfo: { name: 'liminal', title: 'Liminal', version: manifest.version },
      clientCapabilities: {
        fs: { readTextFile: offersFiles, writeTextFile: offersFiles },
        terminal: true,
        plan: {},
        subagents: {},
        session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
        elicitation: { form: {}, url: {} },
        // This field is not part of the protocol, but makes several agents stream a command's output.
        _meta: { terminal_output: true },
      },
    });
    const initialised = Initialised.safeParse(answer).data;
    if (initialised === undefined)
      throw new Error('The agent’s answer to “initialize” is not valid.');
    const { protocolVersion: version, agentCapabilities, agentInfo, authMethods } = initialised;
    if (version !== protocolVersion) {
      throw new Error(
        `The agent speaks version ${version} of the protocol, not ${protocolVersion}.`,
      );
    }
    this.#capabilities = agentCapabilities;
    this.#info = agentInfo;
    this.#authMethods = readAuthMethods(authMethods);
  }

  /** Returns a way to sign in whose variables are all set in the environment. */
  #keyMethod(): AuthMethod | undefined {
    return this.#authMethods.find(
      ({ type, vars = [] }) =>
        type === 'env_var' &&
        vars.length > 0 &&
        vars.every(({ name }) => (this.#env[name] ?? '') !== ''),
    );
  }

  #find({ sessionId, requestId }: { sessionId?: unknown; requestId?: unknown }): SessionClient {
    const asking = sessionId ?? this.#connection.sessionOf(requestId);
    const session = this.#sessions.get(asking) ?? this.#parentOf(asking);
    if (session?.client === undefined)
      throw notFound(`There is no session ${String(sessionId)} here.`);
    return session.client;
  }

  #onUpdate(sessionId: unknown, update: unknown): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.onUpdate(update);
    else if (this.#parentOf(sessionId) !== undefined || !this.#early.keep(sessionId, update)) {
      this.#onChild(sessionId, update);
    }
  }

  /** Handles an update of a session that Liminal did not open: the agent has opened the session for a subagent. */
  #onChild(sessionId: unknown, update: unknown): void {
    if (typeof sessionId !== 'string' || this.#left.has(sessionId)) return;
    const parent = this.#parentOf(sessionId);
    if (parent !== undefined) return parent.onChildUpdate?.(sessionId, update);
    if (!isConversation(update)) return;
    // Contrary to the protocol, the agent did not announce the session: guess its parent, but only if exactly one
    // session qualifies.
    const all = [...this.#sessions.values()];
    const busy = all.filter(({ isBusy }) => isBusy === true);
    const [only, ...others] = busy.length > 0 ? busy : all;
    if (only !== undefined && others.length === 0) only.onChildUpdate?.(sessionId, update);
    else
      this.#process.note(`An update of the unknown session ${sessionId}: ${updateType(update)}\n`);
  }

  /** Returns the session whose subagent, according to the agent, has the session `sessionId`. */
  #parentOf(sessionId: unknown): HostedSession | undefined {
    if (typeof sessionId !== 'string') return undefined;
    return [...this.#sessions.values()].find((session) => session.hasChild?.(sessionId) === true);
  }

  #onGone(reason: Error): void {
    this.#isAlive = false;
    this.#life.end(reason);
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) session.onGone(reason);
    this.#connection.close(reason);
    // End the process even if it has exited: its children may still run.
    void this.end();
  }
}

const inSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

function silence({ command: { command, args }, limitMs, hasAnswered }: AgentStart): string {
  const words = [basename(command), ...args.filter((arg) => !arg.includes('/'))];
  const speaksAcp = hasAnswered || words.some((word) => word.toLowerCase().includes('acp'));
  const hint = speaksAcp
    ? ''
    : ' Many agents speak ACP only with an argument, such as --acp: check “args”.';
  return `The agent did not answer within ${inSeconds(limitMs)}.${hint} If the agent is slow to start, raise “startLimitMs”.`;
}

const timeout = (ms: number): Promise<false> =>
  new Promise((resolve) => setTimeout(resolve, ms, false).unref());
