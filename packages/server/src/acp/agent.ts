import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  agent,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
  type ForkSessionRequest,
  type InitializeResponse,
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  type ResumeSessionRequest,
} from '@agentclientprotocol/sdk/unstable';
import type { Runtime } from '@liminal/runtime';
import { errors } from '../errors.ts';
import { AttachedSession } from './attached-session.ts';
import type { ProjectPaths } from './client-paths.ts';
import { requestError } from './errors.ts';
import { namedMcpServers } from './mcp-servers.ts';
import { readPrompt } from './prompt.ts';
import { modeOption, settingsOf, type AcpSessionSettings } from './settings.ts';

export interface AcpAgentOptions {
  runtime: Runtime;
  /** The type of agent in new sessions. Only sessions of this type are listed. */
  cliType: string;
  version: string;
  onProblem: (error: unknown) => void;
}

/** Returns the ACP agent of one connection. Each ACP method calls the runtime. */
export function acpAgent(options: AcpAgentOptions): AgentApp {
  const client = new AcpClient(options);
  const session = methods.agent.session;
  const safe =
    <Context extends { client: AgentContext }, Answer>(
      work: (context: Context) => Promise<Answer>,
    ) =>
    async (context: Context): Promise<Answer> => {
      client.context = context.client;
      return work(context).catch((error: unknown) => {
        throw requestError(error);
      });
    };
  return agent({ name: 'liminal' })
    .onConnect((connection) => {
      void connection.closed.finally(() => client.leave());
    })
    .onRequest(methods.agent.initialize, ({ params }) => client.initialize(params))
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(
      session.new,
      safe(async ({ params }) => client.create(params)),
    )
    .onRequest(
      session.load,
      safe(async ({ params }) => client.open(params, true)),
    )
    .onRequest(
      session.resume,
      safe(async ({ params }) => client.open(params, false)),
    )
    .onRequest(
      session.list,
      safe(async ({ params }) => client.list(params.cwd)),
    )
    .onRequest(
      session.close,
      safe(async ({ params }) => client.close(params.sessionId)),
    )
    .onRequest(
      session.delete,
      safe(async ({ params }) => client.delete(params.sessionId)),
    )
    .onRequest(
      session.fork,
      safe(async ({ params }) => client.fork(params)),
    )
    .onRequest(
      session.setMode,
      safe(async ({ params }) => client.setMode(params.sessionId, params.modeId)),
    )
    .onRequest(
      session.setConfigOption,
      safe(async ({ params }) => client.setOption(params.sessionId, params.configId, params.value)),
    )
    .onRequest(
      session.prompt,
      safe(async ({ params, signal }) => {
        const { attached, paths } = client.attached(params.sessionId);
        const { message, blocks } = readPrompt(params.prompt, paths);
        if (message.trim() === '' && blocks.length === 0) throw errors.INVALID_PARAMS.emptyPrompt();
        return attached.prompt(message, blocks, signal);
      }),
    )
    .onNotification(session.cancel, async ({ params }) => {
      await client.attached(params.sessionId).attached.cancel().catch(options.onProblem);
    });
}

/** How long opening a session waits for the agent's settings, in ms. Clients show only the settings in the response. */
const settingsMs = 3_000;

interface Attached {
  attached: AttachedSession;
  paths: ProjectPaths;
}

/** The sessions that the client has open, by id. */
class AcpClient {
  context: AgentContext | undefined;
  readonly #options: AcpAgentOptions;
  readonly #sessions = new Map<string, Attached>();
  #capabilities: ClientCapabilities = {};
  #hasLeft = false;

  constructor(options: AcpAgentOptions) {
    this.#options = options;
  }

  async initialize({
    clientCapabilities = {},
  }: {
    clientCapabilities?: ClientCapabilities;
  }): Promise<InitializeResponse> {
    this.#capabilities = clientCapabilities;
    const { version, runtime, cliType } = this.#options;
    const agents = await runtime.listAgents();
    const { mcpTransports: transports = [], takesDirectories = false } =
      agents.find((one) => one.cliType === cliType) ?? {};
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'liminal', title: 'Liminal', version },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: transports.includes('http'), sse: transports.includes('sse') },
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        sessionCapabilities: {
          list: {},
          resume: {},
          close: {},
          delete: {},
          fork: {},
          ...(takesDirectories && { additionalDirectories: {} }),
        },
      },
    };
  }

  async create({
    cwd,
    ...requested
  }: NewSessionRequest): Promise<{ sessionId: string } & AcpSessionSettings> {
    const { runtime, cliType } = this.#options;
    checkFolder(cwd);
    const { sessionId } = await runtime.createSession({
      cliType,
      projectDir: cwd,
      ...resourcesIn(requested),
    });
    return { sessionId, ...(await this.#attach(sessionId, cwd, false)) };
  }

  async open(
    { sessionId, cwd, ...requested }: LoadSessionRequest | ResumeSessionRequest,
    replay: boolean,
  ): Promise<AcpSessionSettings> {
    checkFolder(cwd);
    await this.#options.runtime.loadSession(sessionId, resourcesIn(requested));
    return this.#attach(sessionId, cwd, replay);
  }

  async fork({
    sessionId: original,
    cwd,
    ...requested
  }: ForkSessionRequest): Promise<{ sessionId: string } & AcpSessionSettings> {
    const { runtime } = this.#options;
    checkFolder(cwd);
    const resources = resourcesIn(requested);
    const { sessionId } = await runtime.fork(original, { sessionId: randomUUID() });
    await runtime.loadSession(sessionId, resources);
    return { sessionId, ...(await this.#attach(sessionId, cwd, false)) };
  }

  async list(cwd: string | null | undefined) {
    const { runtime, cliType } = this.#options;
    // A session stores the real path of its folder.
    const folder = cwd == null ? undefined : await realpath(cwd).catch(() => cwd);
    const projects = await runtime.listProjects();
    const sessions = projects
      .flatMap((project) => project.sessions)
      .filter((one) => one.cliType === cliType && one.archived !== true)
      .filter(({ projectDir }) => folder === undefined || projectDir === folder)
      .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
      .map(({ sessionId, projectDir, additionalDirectories, title, updatedAt }) => ({
        sessionId,
        cwd: cwd ?? projectDir,
        ...(additionalDirectories && { additionalDirectories }),
        title,
        updatedAt,
      }));
    return { sessions };
  }

  async close(sessionId: string): Promise<void> {
    await this.#sessions.get(sessionId)?.attached.stopAll();
    await this.#options.runtime.kill(sessionId);
    this.#leave(sessionId);
  }

  async delete(sessionId: string): Promise<void> {
    await this.#options.runtime.deleteSession(sessionId);
    this.#leave(sessionId);
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    const { runtime } = this.#options;
    const { configOptions } = await runtime.info(sessionId);
    const mode = modeOption(configOptions);
    if (mode === undefined) throw errors.INVALID_PARAMS.noModes();
    await runtime.setConfig(sessionId, mode.id, modeId);
  }

  async setOption(sessionId: string, id: string, value: unknown) {
    const { runtime } = this.#options;
    await runtime.setConfig(sessionId, id, String(value));
    const { configOptions } = settingsOf((await runtime.info(sessionId)).configOptions);
    return { configOptions };
  }

  /** Throws a RequestError. */
  attached(sessionId: string): Attached {
    const attached = this.#sessions.get(sessionId);
    if (attached) return attached;
    throw errors.INVALID_PARAMS.notOpened(sessionId);
  }

  leave(): void {
    this.#hasLeft = true;
    for (const sessionId of this.#sessions.keys()) this.#leave(sessionId);
  }

  #leave(sessionId: string): void {
    this.#sessions.get(sessionId)?.attached.leave();
    this.#sessions.delete(sessionId);
  }

  async #attach(sessionId: string, cwd: string, replay: boolean): Promise<AcpSessionSettings> {
    const { runtime, onProblem } = this.#options;
    const client = this.context;
    if (client === undefined) throw errors.INVALID_PARAMS.notInitialised();
    const { projectDir } = (await runtime.info(sessionId)).session;
    // If the client has closed the connection in the meantime, detach it from the session.
    if (this.#hasLeft) throw errors.INVALID_PARAMS.hasLeft();
    const paths = { sessionId, cwd, projectDir };
    const capabilities = this.#capabilities;
    const ownTurns = this.#sessions.get(sessionId)?.attached.handOver();
    const sessionOptions = { runtime, client, capabilities, ...paths, onProblem };
    const attached = new AttachedSession({ ...sessionOptions, ...(ownTurns && { ownTurns }) });
    this.#sessions.set(sessionId, { attached, paths });
    // The agent reports its settings only while it runs, so start it here. If the start fails, the next request reports
    // the error.
    runtime.prewarm(sessionId).catch(() => {});
    try {
      await attached.attach({ replay });
      await attached.settingsKnown(settingsMs);
    } catch (error) {
      if (this.#sessions.get(sessionId)?.attached === attached) this.#leave(sessionId);
      throw error;
    }
    const now = await runtime.info(sessionId);
    attached.markSettingsSent(now);
    // The client receives the session's id in the response, so send updates only after the response.
    setImmediate(() => attached.startSendingInfo());
    return settingsOf(now.configOptions);
  }
}

/** Checks and returns the MCP servers and folders that the client wants for its session. Throws a RequestError. */
function resourcesIn({ mcpServers, additionalDirectories = [] }: RequestedResources) {
  for (const folder of additionalDirectories) checkFolder(folder, 'additionalDirectories');
  return { mcpServers: namedMcpServers(mcpServers), additionalDirectories };
}

type RequestedResources = Pick<ForkSessionRequest, 'mcpServers' | 'additionalDirectories'>;

/** Rejects relative paths, because they would be relative to the server's own folder. Throws a RequestError. */
function checkFolder(folder: string, field = 'cwd'): void {
  if (isAbsolute(folder)) return;
  throw errors.INVALID_PARAMS.relativePath(folder, field);
}
