import { basename } from 'node:path';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { AcpConnection } from './acp-connection.ts';
import { AgentProcess, type ProcessCommand } from '../base/agent-process.ts';
import { Lifetime } from '../base/lifetime.ts';
import { notFound } from './client-side/client-error.ts';
import { serveClient } from './client-side/serve.ts';
import type { SessionClient } from './client-side/session-client.ts';
import { EarlyUpdates } from './early-updates.ts';
import { readAuthMethods, readRpcError, rpc, type AuthMethod } from './errors.ts';
import { Newest } from '../base/newest.ts';
import { isConversation } from './translate/conversation.ts';
import { typeOf } from './translate/fields.ts';
import { loadSdk, type Sdk } from './sdk.ts';

/** Messages to the running turn in the form in which Qwen Code takes them. */
export interface SteeredMessages {
  messages: string[];
  items: { content: object[]; displayText: string }[];
  /** Whether another prompt waits behind the turn: Liminal sends one prompt at a time. */
  hasQueuedPrompt: false;
}

/** A session as its agent's process sees it. */
export interface HostedSession {
  /** Serves the agent's requests in this session; without it, they are refused. */
  readonly client?: SessionClient;
  /** `params.update` of a `session/update`, as it came. */
  onUpdate(update: unknown): void;
  /** Whether a turn runs. */
  readonly isBusy?: boolean;
  /** Whether the agent has said that it made that session, for a subagent of this one. */
  hasChild?(sessionId: string): boolean;
  /** `params.update` of a `session/update` of such a session. */
  onChildUpdate?(sessionId: string, update: unknown): void;
  /** The messages to the turn that runs; the agent has them from now on. */
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
/** Agents, by their own names, that ask between their tools for messages to the running turn: Qwen Code 0.24. */
const askers = new Set(['qwen-code']);
/** How long an agent may take to close a session, ms. */
const closeLimitMs = 500;

/** How an agent is started. */
export interface AgentStart {
  command: ProcessCommand;
  /** Whether the agent may read and write files of the project through Liminal. */
  offersFiles: boolean;
  /** How long it may take to answer `initialize`, ms. */
  limitMs: number;
  /** Whether it has answered before: then what it is started with is right. */
  hasAnswered: boolean;
}

/** A running agent that has been initialised, and the sessions that live in it. */
export class AcpAgent {
  readonly #process: AgentProcess;
  readonly #connection: AcpConnection;
  readonly #env: NodeJS.ProcessEnv;
  readonly #sessions = new Map<unknown, HostedSession>();
  readonly #early = new EarlyUpdates((sessionId, update) => this.#onChild(sessionId, update));
  /** The ids of sessions that have ended here: their last updates are of no subagent. */
  readonly #left = new Newest<unknown, true>(1_000);
  readonly #life = new Lifetime();
  #isAlive = true;
  #capabilities: Capabilities = {};
  #authMethods: AuthMethod[] = [];
  #info: Initialised['agentInfo'];
  #ended: Promise<void> | undefined;

  /** Starts the program. Rejects if it does not answer `initialize` within `limitMs`; then no process is left. */
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

  private constructor(sdk: Sdk, process: AgentProcess, env: NodeJS.ProcessEnv) {
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

  /** The version that it reports. */
  get version(): string | undefined {
    return this.#info?.version;
  }

  /** Its own name. */
  get title(): string | undefined {
    return this.#info?.title ?? this.#info?.name;
  }

  /** Whether a conversation can be copied, and the copy opened later. */
  get forks(): boolean {
    const { loadSession, sessionCapabilities: can } = this.#capabilities;
    return can?.fork === true && (loadSession === true || can.resume === true);
  }

  /** Whether a session lives in this process. */
  hosts(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** Whether it asks, between its tools, for messages to the turn that runs. */
  get asksForMessages(): boolean {
    return askers.has(this.#info?.name ?? '');
  }

  /** Resolves with the raw answer. Rejects with the library's RequestError, or with why the process ended. */
  request(method: string, params: unknown): Promise<unknown> {
    return this.#connection.request(method, params);
  }

  /** A request that begins or opens a session; signs in with a key from the environment if the agent requires it. */
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

  /** `session/new`; `take` must admit the session that the answer names. */
  begin<T>(params: unknown, take: (answer: unknown) => T): Promise<T> {
    return this.#early.during(async () => take(await this.open('session/new', params)));
  }

  notify(method: string, params: unknown): void {
    this.#connection.notify(method, params);
  }

  /** Routes a session's updates to it, including those that came since it was begun. */
  admit(sessionId: string, session: HostedSession): void {
    this.#sessions.set(sessionId, session);
    this.#left.delete(sessionId);
    for (const update of this.#early.take(sessionId)) session.onUpdate(update);
  }

  /** Forgets a session and asks the agent to close it, if it can. Resolves to whether it did. */
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

  /** Why it ended, with its other output since the last `forgetOutput`. */
  explain(reason: unknown): string {
    return this.#process.explain(reason);
  }

  forgetOutput(): void {
    this.#process.forgetOutput();
  }

  /** Ends the process and all that it started. */
  end(isWarned = false): Promise<void> {
    this.#isAlive = false;
    this.#ended ??= this.#process.end(isWarned);
    return this.#ended;
  }

  /** The result of `work`, unless it takes too long, the process ends, or the signal aborts. */
  async within<T>(
    limitMs: number,
    work: Promise<T>,
    signal?: AbortSignal,
    tooLong = `It took longer than ${inSeconds(limitMs)}.`,
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
        // Not part of the protocol, but with it several agents stream a command's output.
        _meta: { terminal_output: true },
      },
    });
    const initialised = Initialised.safeParse(answer).data;
    if (initialised === undefined) throw new Error('Its answer to “initialize” is none.');
    const { protocolVersion: version, agentCapabilities, agentInfo, authMethods } = initialised;
    if (version !== protocolVersion) {
      throw new Error(`It speaks version ${version} of the protocol, not ${protocolVersion}.`);
    }
    this.#capabilities = agentCapabilities;
    this.#info = agentInfo;
    this.#authMethods = readAuthMethods(authMethods);
  }

  /** A way to sign in for which the environment has all variables. */
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

  /** An update of a session that Liminal did not open: the agent has made it for a subagent. */
  #onChild(sessionId: unknown, update: unknown): void {
    if (typeof sessionId !== 'string' || this.#left.has(sessionId)) return;
    const parent = this.#parentOf(sessionId);
    if (parent !== undefined) return parent.onChildUpdate?.(sessionId, update);
    if (!isConversation(update)) return;
    // It was not announced, as the protocol asks: it can be of one session only.
    const all = [...this.#sessions.values()];
    const busy = all.filter(({ isBusy }) => isBusy === true);
    const [only, ...others] = busy.length > 0 ? busy : all;
    if (only !== undefined && others.length === 0) only.onChildUpdate?.(sessionId, update);
    else this.#process.note(`An update of the unknown session ${sessionId}: ${typeOf(update)}\n`);
  }

  /** The session whose subagent has that session. */
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
    // Its children may still run.
    void this.end();
  }
}

const inSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

function silence({ command: { command, args }, limitMs, hasAnswered }: AgentStart): string {
  const words = [basename(command), ...args.filter((arg) => !arg.includes('/'))];
  const speaksAcp = hasAnswered || words.some((word) => word.toLowerCase().includes('acp'));
  const hint = speaksAcp
    ? ''
    : ' Many agents speak ACP only with an argument, such as --acp: see that “args” has it.';
  return `It did not answer within ${inSeconds(limitMs)}.${hint} One that is slow to start needs a higher “startLimitMs”.`;
}

const timeout = (ms: number): Promise<false> =>
  new Promise((resolve) => setTimeout(resolve, ms, false).unref());
