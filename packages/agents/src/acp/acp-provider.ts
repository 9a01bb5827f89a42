import { randomUUID } from 'node:crypto';
import type { AgentInfo, ApprovalAnswer } from '@liminal/protocol';
import { checkFolder } from '../base/check-folder.ts';
import { isoNow } from '../base/iso-clock.ts';
import { ProviderListeners } from '../base/listeners.ts';
import { Sessions } from '../base/sessions.ts';
import { Starts } from '../base/starts.ts';
import { ProviderError } from '../errors.ts';
import type { McpServers } from '../mcp-servers.ts';
import type {
  AgentIntroduction,
  CliProvider,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
  StoredSession,
  StoredTurn,
} from '../provider.ts';
import { AgentPool } from './agent-pool.ts';
import type { AcpSession } from './acp-session.ts';
import { describeCommand } from './availability.ts';
import type { Defaults } from './defaults.ts';
import { introduce } from './introduction.ts';
import { beginSession, goOnWithSession, type Opening } from './open-session.ts';
import { storedMark } from './stored-mark.ts';
import { StoredSessions } from './stored-sessions.ts';
import type { AcpQuirks } from './translate/quirks.ts';
import type { RememberedSession } from './remembered-session.ts';
import { readReplay } from './translate/replay.ts';

export interface AcpProviderOptions {
  /** What the agent is called by programs, and by people. */
  cliType: string;
  name: string;
  /** One sentence for people. */
  description: string;
  /** The program: a path, a name that is looked for on the search path, or a way to find it when it is needed. */
  command: string | (() => Promise<string>);
  args?: readonly string[];
  /** On top of what is inherited. */
  env?: Record<string, string>;
  /** What the agent inherits, less what is Liminal's own. Default: this process's environment. */
  inherited?: NodeJS.ProcessEnv;
  /** Settings that its sessions begin with, where it has them: a mode, and config options by id. */
  defaults?: Defaults;
  quirks?: AcpQuirks;
  /** Handed to every session whose agent takes them. */
  mcpServers?: McpServers;
  /** Whether its sessions live in one process. Default: each has its own. */
  sharedProcess?: boolean;
  /** How many processes may start at the same time. Default 2. */
  maxStarts?: number;
  /** For the agent to answer when it has been started, ms. Default 20,000 ms. */
  startLimitMs?: number;
  /** For it to open a session then, which may mean to start MCP servers and to ask its maker, ms. Default a minute. */
  openLimitMs?: number;
  /** For the agent to stop a turn; after as long again it is ended. Default 10,000 ms. */
  cancelLimitMs?: number;
  /** A turn that the agent began of its own accord ends when it has been silent for so long. Default 3,000 ms. */
  ownTurnIdleMs?: number;
  /** Replaces what `describe` finds out by itself. */
  describe?: () => Promise<AgentInfo>;
}

const openLimitMs = 60_000;

/** Any agent that speaks the Agent Client Protocol over stdio. */
export class AcpProvider implements CliProvider {
  readonly cliType: string;
  readonly prewarms = true;
  readonly numbersStoredTurns = true;
  readonly #options: AcpProviderOptions;
  readonly #inherited: NodeJS.ProcessEnv;
  readonly #starts: Starts;
  readonly #pool: AgentPool;
  readonly #stored: StoredSessions;
  readonly #listeners = new ProviderListeners();
  readonly #sessions: Sessions<AcpSession, RememberedSession>;

  constructor(options: AcpProviderOptions) {
    this.#options = options;
    this.cliType = options.cliType;
    this.#inherited = options.inherited ?? process.env;
    this.#sessions = new Sessions(options.name);
    this.#starts = new Starts(options.maxStarts ?? 2, options.name);
    const { command, args = [], env = {}, startLimitMs = 20_000, sharedProcess } = options;
    this.#pool = new AgentPool({
      find: async () => (typeof command === 'string' ? command : command()),
      launch: { args, env, inherited: this.#inherited },
      startLimitMs,
      isShared: sharedProcess === true,
    });
    this.#stored = new StoredSessions({
      cliType: options.cliType,
      name: options.name,
      quirks: options.quirks ?? {},
      running: () => this.#pool.running,
      start: (cwd, signal) => this.#starts.aside(() => this.#pool.start(cwd, signal)),
      limitMs: options.openLimitMs ?? openLimitMs,
      idleMs: 5_000,
    });
  }

  readonly onEvent: CliProvider['onEvent'] = (id, callback) =>
    this.#listeners.onEvent(id, callback);
  readonly onUpsert: CliProvider['onUpsert'] = (id, callback) =>
    this.#listeners.onUpsert(id, callback);
  readonly onTurn: CliProvider['onTurn'] = (id, callback) => this.#listeners.onTurn(id, callback);
  readonly onUpdate: CliProvider['onUpdate'] = (id, callback) =>
    this.#listeners.onUpdate(id, callback);
  readonly onExit: CliProvider['onExit'] = (id, callback) => this.#listeners.onExit(id, callback);

  async createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    const { projectDir, sessionId = randomUUID(), config } = options;
    if (this.isAlive(sessionId)) {
      throw new ProviderError('SESSION_CREATE_FAILED', `There is a session ${sessionId} already.`);
    }
    return this.#start(sessionId, projectDir, (opening) => beginSession(opening, { config }));
  }

  async loadSession(sessionId: string, options: LoadSessionOptions = {}): Promise<ProviderSession> {
    const starting = this.#starts.of(sessionId);
    if (starting !== undefined) return starting;
    if (this.isAlive(sessionId)) return { sessionId, cliType: this.cliType };
    const known = this.#sessions.remembered(sessionId);
    const projectDir = options.projectDir ?? known?.projectDir;
    if (projectDir === undefined) throw this.#sessions.notFound(sessionId);
    const config = { ...known?.config, ...options.config };
    if (known?.isStored === false) {
      // Most agents keep no session without a message: it is begun again.
      const again = { config, isLenient: true, notices: known.untold };
      return this.#start(sessionId, projectDir, (opening) => beginSession(opening, again));
    }
    const agentSessionId = options.agentSessionId ?? known?.agentSessionId;
    const { hasHistory, storedMark: mark } = options;
    const going = { sessionId, agentSessionId, config, hasHistory, storedMark: mark };
    const session = await this.#start(sessionId, projectDir, (opening) =>
      goOnWithSession(opening, going),
    );
    const told = this.#told(this.#sessions.get(sessionId));
    // Nobody has to want it.
    told.catch(() => undefined);
    return { ...session, told };
  }

  async sendMessage(
    sessionId: string,
    message: string,
    { turnId = randomUUID() }: { turnId?: string } = {},
  ): Promise<SendMessageResult> {
    await this.#sessions.get(sessionId).send(message, turnId);
    return { turnId };
  }

  async cancelTurn(sessionId: string): Promise<void> {
    await this.#sessions.unlessEnded(sessionId, (session) => session.cancel());
  }

  async killSession(sessionId: string): Promise<void> {
    const isStarting = this.#starts.of(sessionId) !== undefined;
    await this.#starts.giveUp(sessionId);
    if (isStarting && !this.#sessions.has(sessionId)) return;
    await this.#sessions.unlessEnded(sessionId, async () => this.#sessions.end(sessionId));
  }

  isAlive(sessionId: string): boolean {
    return this.#sessions.isAlive(sessionId);
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name, description, command, describe, env } = this.#options;
    if (describe !== undefined) return describe();
    const program = typeof command === 'string' ? command : await command();
    const searchPath = env?.['PATH'] ?? this.#inherited['PATH'];
    const found = await describeCommand({ cliType, name, description }, program, searchPath);
    const { version } = this.#pool;
    return { ...found, ...(version !== undefined && { version }) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#starts.sessionIds.map((sessionId) => this.#starts.giveUp(sessionId)));
    await Promise.all([this.#stored.close(), this.#sessions.endAll()]);
    this.#listeners.close();
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    this.#sessions.get(sessionId).answerApproval(approvalId, answer);
  }

  async setConfigOption(sessionId: string, id: string, value: string): Promise<void> {
    await this.#sessions.get(sessionId).setConfigOption(id, value);
  }

  async introduce(limitMs: number): Promise<AgentIntroduction> {
    const start = (cwd: string) => this.#pool.start(cwd, new AbortController().signal, limitMs);
    const { defaults = {} } = this.#options;
    return this.#starts.aside(() => introduce({ start, defaults, limitMs }));
  }

  async listStoredSessions(
    projectDir?: string,
    known: readonly string[] = [],
  ): Promise<StoredSession[]> {
    if (projectDir === undefined) return this.#stored.list(known);
    const found = await this.#stored.list([projectDir, ...known]);
    return found.filter((session) => session.projectDir === projectDir);
  }

  async peekStoredSessions(known: readonly string[] = []): Promise<StoredSession[] | undefined> {
    return this.#stored.peek(known);
  }

  async storedMark(agentSessionId: string, projectDir: string): Promise<string | undefined> {
    const agent = this.#pool.running;
    return agent && storedMark(agent, agentSessionId, projectDir);
  }

  readStoredHistory(sessionId: string, projectDir: string): Promise<StoredTurn[]> {
    const agentSessionId = this.#sessions.remembered(sessionId)?.agentSessionId ?? sessionId;
    return this.#stored.read(agentSessionId, projectDir);
  }

  async #told(session: AcpSession): Promise<StoredTurn[]> {
    const replayed = await session.replayed();
    if (replayed.length === 0) return [];
    const { cliType, quirks, agent, agentSessionId, projectDir } = session.options;
    // It has no times; the session's last one is nearer than the present.
    const timestamp = (await storedMark(agent, agentSessionId, projectDir)) ?? isoNow();
    const updates = replayed.map((update) => ({ update, timestamp }));
    return readReplay(updates, { cliType, quirks, agentSessionId });
  }

  #start(
    sessionId: string,
    projectDir: string,
    open: (opening: Opening) => Promise<AcpSession>,
  ): Promise<ProviderSession> {
    return this.#starts.begin(sessionId, async (signal) => {
      await checkFolder(projectDir);
      // What a crash has left goes first: no two agents of one session are at work at the same time.
      await this.#sessions.end(sessionId);
      const session = await open(this.#opening(sessionId, projectDir, signal));
      this.#sessions.put(sessionId, session);
      session.announce();
      return { sessionId, cliType: this.cliType };
    });
  }

  #opening(sessionId: string, projectDir: string, signal: AbortSignal): Opening {
    const { cliType, name, env = {}, quirks = {}, defaults = {}, mcpServers = {} } = this.#options;
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
        env,
        inherited: this.#inherited,
        quirks,
        cancelLimitMs,
        ownTurnIdleMs,
        emit: (draft) => this.#listeners.emit(sessionId, draft),
        update: (update) => this.#listeners.update(sessionId, update),
        exit: (exit) => this.#listeners.exit(sessionId, exit),
        release: (agent, isWarned) => this.#pool.giveBack(agent, isWarned),
      },
      pool: this.#pool,
      defaults,
      mcpServers,
      limitMs,
      signal,
    };
  }
}
