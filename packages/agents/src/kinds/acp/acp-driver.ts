import type { AgentInfo, McpServers } from '@liminal/protocol';
import { AgentPool } from '../../base/agent-pool.ts';
import { describeCommand } from '../../base/find-program.ts';
import { Semaphore } from '../../contract/semaphore.ts';
import type { AgentDriver, SessionOpening } from '../../contract/driver.ts';
import { HiddenFolders } from '../../base/hidden-folders.ts';
import type {
  AgentIntroduction,
  StoredFork,
  StoredSession,
  StoredTurn,
} from '../../contract/provider.ts';
import { AcpAgent } from './acp-agent.ts';
import type { AcpMemory, AcpSession } from './acp-session.ts';
import type { Defaults } from './defaults.ts';
import { introduce } from './introduction.ts';
import { offersFiles } from './offers-files.ts';
import { mcpTransports } from './mcp-servers.ts';
import { beginSession, continueSession, type Opening } from './open-session.ts';
import { storedMark } from './stored-mark.ts';
import { StoredSessions } from './stored-sessions.ts';

export interface AcpProviderOptions {
  /** The agent's name in programs (`cliType`) and in the UI (`name`). */
  cliType: string;
  name: string;
  /** One sentence for the UI. */
  description: string;
  /** The program: a path, or a name on the search path. */
  command: string;
  args?: readonly string[];
  /** Variables that are added to the inherited environment. */
  env?: Record<string, string>;
  /** The environment to inherit, without Liminal's own variables. Default: this process's environment. */
  inherited?: NodeJS.ProcessEnv;
  /** Settings for new sessions, where the agent has them: a mode, and config options by id. */
  defaults?: Defaults;
  /** MCP servers for every session; servers that the agent does not support are left out and reported. */
  mcpServers?: McpServers;
  /** Folders whose files Liminal neither reads nor writes for the agent. */
  hiddenFolders?: readonly string[];
  /** Whether the agent may read and write the project's files through Liminal. Default: true, except for Gemini CLI. */
  files?: boolean;
  /** Whether all sessions share one process. Default: each session has its own process. */
  sharedProcess?: boolean;
  /** How many processes may start at the same time. Default: 2. */
  maxStarts?: number;
  /** How long the agent may take to answer after its start. Default: 20,000 ms. */
  startLimitMs?: number;
  /** How long the agent may take to open a session, MCP servers and sign-in included, in ms. Default: a minute. */
  openLimitMs?: number;
  /** How long the agent may take to stop a turn; after twice this time the agent is ended. Default: 10,000 ms. */
  cancelLimitMs?: number;
  /** A turn that the agent began by itself ends after this much silence. Default: 3,000 ms. */
  ownTurnIdleMs?: number;
}

const openLimitMs = 60_000;

/** The driver of any agent that speaks the Agent Client Protocol over stdio. */
export class AcpDriver implements AgentDriver<AcpMemory> {
  readonly cliType: string;
  readonly name: string;
  readonly prewarms = true;
  readonly numbersStoredTurns = true;
  readonly takesDirectories = true;
  readonly forksWhole = true;
  readonly starts: Semaphore;
  readonly #options: AcpProviderOptions;
  readonly #inherited: NodeJS.ProcessEnv;
  readonly #hiddenFolders: HiddenFolders;
  readonly #pool: AgentPool<AcpAgent>;
  readonly #stored: StoredSessions;
  /** Whether any process of the agent has answered. */
  #hasAnswered = false;
  /** Whether the process that was started last forks sessions. */
  #forks = false;
  /** The agent's version, as reported by the process that was started last. */
  #version: string | undefined;
  /**
   * The MCP transports that the process started last has reported. Before the first start all transports are assumed to
   * work: sessions report servers that the agent cannot reach.
   */
  #mcpTransports: AgentInfo['mcpTransports'] = ['stdio', 'http', 'sse'];

  constructor(options: AcpProviderOptions) {
    this.#options = options;
    this.cliType = options.cliType;
    this.name = options.name;
    this.starts = new Semaphore(options.maxStarts ?? 2);
    this.#inherited = options.inherited ?? process.env;
    this.#hiddenFolders = new HiddenFolders(options.hiddenFolders);
    const start = (cwd: string, signal: AbortSignal) => this.#start(cwd, signal);
    this.#pool = new AgentPool(start, options.sharedProcess === true);
    this.#stored = new StoredSessions({
      cliType: options.cliType,
      name: options.name,
      running: () => this.#pool.running,
      hosting: (sessionId) => this.#pool.find((agent) => agent.hosts(sessionId)),
      start: (cwd, signal) => this.starts.run(() => start(cwd, signal)),
      limitMs: options.openLimitMs ?? openLimitMs,
      idleMs: 5_000,
    });
  }

  async open(opening: SessionOpening<AcpMemory>): Promise<AcpSession> {
    const session = await this.#begin(opening);
    session.announce();
    return session;
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name, description, command, env } = this.#options;
    const searchPath = env?.['PATH'] ?? this.#inherited['PATH'];
    const found = describeCommand({ cliType, name, description }, command, searchPath);
    const version = this.#version;
    const mcpTransports = this.#mcpTransports;
    const forks = this.#forks && { forks: true, forksWhole: true };
    return { ...found, mcpTransports, ...forks, ...(version !== undefined && { version }) };
  }

  close(): Promise<void> {
    return this.#stored.close();
  }

  introduce(limitMs: number): Promise<AgentIntroduction> {
    const start = (cwd: string) => this.#start(cwd, new AbortController().signal, limitMs);
    const { defaults = {} } = this.#options;
    return this.starts.run(() => introduce({ start, defaults, limitMs }));
  }

  async listStoredSessions(
    projectDir?: string,
    known: readonly string[] = [],
  ): Promise<StoredSession[]> {
    if (projectDir === undefined) return this.#stored.list(known);
    const found = await this.#stored.list([projectDir, ...known]);
    return found.filter((session) => session.projectDir === projectDir);
  }

  peekStoredSessions(known: readonly string[] = []): Promise<StoredSession[] | undefined> {
    return this.#stored.peek(known);
  }

  async storedMark(agentSessionId: string, projectDir: string): Promise<string | undefined> {
    const agent = this.#pool.running;
    return agent && storedMark(agent, agentSessionId, projectDir);
  }

  readStoredHistory(agentSessionId: string, projectDir: string): Promise<StoredTurn[]> {
    return this.#stored.read(agentSessionId, projectDir);
  }

  async fork(agentSessionId: string, projectDir: string): Promise<StoredFork> {
    const copy = await this.#stored.fork(agentSessionId, projectDir);
    return { agentSessionId: copy, copies: new Map(), left: new Set() };
  }

  /** Starts a process that belongs to the caller alone. Rejects with why the process did not start. */
  async #start(cwd: string, signal: AbortSignal, limitMs?: number): Promise<AcpAgent> {
    const { command, args = [], env = {}, startLimitMs = 20_000 } = this.#options;
    const launch = { cliType: this.cliType, command, args, env, inherited: this.#inherited, cwd };
    const { files = offersFiles({ command, args }) } = this.#options;
    const start = {
      command: launch,
      offersFiles: files,
      limitMs: limitMs ?? startLimitMs,
      hasAnswered: this.#hasAnswered,
    };
    const agent = await AcpAgent.start(start, signal);
    this.#hasAnswered = true;
    this.#version = agent.version;
    this.#forks = agent.forks;
    this.#mcpTransports = mcpTransports(agent.capabilities.mcpCapabilities);
    return agent;
  }

  async #begin(asked: SessionOpening<AcpMemory>): Promise<AcpSession> {
    const { sessionId, earlier } = asked;
    const opening = this.#opening(asked);
    if (earlier === undefined) return beginSession(opening, { config: asked.config });
    await this.#stored.release(earlier.agentSessionId ?? sessionId);
    const { memory, ...known } = earlier;
    const config = { ...memory?.config, ...asked.config };
    if (memory?.isStored !== false)
      return continueSession(opening, { ...known, sessionId, config });
    // Most agents do not store a session without a message: begin a new session.
    return beginSession(opening, { config, isLenient: true, notices: memory.pendingNotices });
  }

  #opening(asked: SessionOpening<AcpMemory>): Opening {
    const { projectDir, additionalDirectories = [], output, signal, mcpServers } = asked;
    const { files, terminals } = asked;
    const { cliType, name, env = {}, defaults = {} } = this.#options;
    const {
      openLimitMs: limitMs = openLimitMs,
      cancelLimitMs = 10_000,
      ownTurnIdleMs = 3_000,
    } = this.#options;
    return {
      session: {
        cliType,
        name,
        projectDir,
        additionalDirectories,
        files,
        terminals,
        hiddenFolders: this.#hiddenFolders,
        env,
        inherited: this.#inherited,
        cancelLimitMs,
        ownTurnIdleMs,
        output,
        pool: this.#pool,
      },
      defaults,
      mcpServers: { ...this.#options.mcpServers, ...mcpServers },
      limitMs,
      signal,
    };
  }
}
