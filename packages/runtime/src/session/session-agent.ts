import type {
  AgentCapabilities,
  AgentDriver,
  AgentSession,
  HeldSession,
  OpenOptions,
  ProjectTrust,
  SessionExit,
  SessionOutput,
  SessionUpdate,
  SteerTarget,
  StoredTurn,
} from '@liminal/agents';
import { agentErrors, SessionInUseError } from '@liminal/agents';
import { isTerminal, whyNotAccepted } from '@liminal/protocol';
import type {
  AcceptedContent,
  AgentCommand,
  BackgroundTask,
  ConfigOption,
  ContentBlock,
  EventDraft,
  McpServers,
  RewindResult,
  SessionInfo,
  SessionNotice,
  UsageLimit,
} from '@liminal/protocol';
import type { SessionRecord } from '@liminal/storage';
import { Watchdog } from '../turn/index.ts';
import { loadBytes } from '../blobs/index.ts';
import { errors, errorCode, RuntimeError } from '../errors.ts';
import { LastKnownStore } from './last-known.ts';
import type { UserMessage } from './queued-messages.ts';
import { NamedMcpServers } from './named-mcp-servers.ts';
import { readConversation } from './read-conversation.ts';
import { projectGrants } from './project-grants.ts';
import type { SessionContext } from './session-context.ts';

/** How long an agent may be silent after a stop, in ms, if it has received a message whose turn has not begun. */
const stopLimitMs = 30_000;

/** The most earlier ids of the agent's session that a session's record contains. */
const maxFormerIds = 100;

/**
 * The methods of an agent's session that need a running agent, each with the ability that the agent's driver must have.
 */
const abilities = {
  rewindFiles: 'rewinds',
  rewindConversation: 'rewindsConversation',
  listMcpServers: 'managesMcp',
  changeMcpServer: 'managesMcp',
  aside: 'answersAside',
  setup: 'tellsSetup',
  setDirectories: 'takesDirectories',
} as const satisfies Partial<Record<keyof AgentSession, keyof AgentCapabilities>>;
type Ability = keyof typeof abilities;

interface SessionAgentOptions {
  onDraft: (draft: EventDraft) => void;
  onExit: (exit: SessionExit) => void;
  /**
   * Called with the earlier turns that a starting agent reports. The message is sent to the agent when the returned
   * promise resolves.
   */
  onTurnsReported: (turns: Promise<StoredTurn[]>) => Promise<void>;
}

/**
 * A session's agent. The agent is started when it is needed. When the agent ends, all processes that it started are
 * ended.
 */
export class SessionAgent {
  readonly #context: SessionContext;
  readonly #projectTrust: ProjectTrust;
  readonly #options: SessionAgentOptions;
  readonly #sessionId: string;
  readonly #output: SessionOutput;
  #configOptions: ConfigOption[] = [];
  #commands: AgentCommand[] = [];
  #notices: SessionNotice[] = [];
  #activity = '';
  /** The running turn. */
  #turnId: string | undefined;
  #tasks: readonly BackgroundTask[] = [];
  #limits: UsageLimit[] = [];
  #accepts: AcceptedContent | undefined;
  #canSteer: boolean | undefined;
  /** Set while the agent is being stopped; a new start waits for this promise. */
  #stopping: Promise<void> | undefined;
  /** How often the agent was stopped. */
  #stops = 0;
  /** How many starts are in progress. */
  #starts = 0;
  /**
   * A sentence about the program that has the session open, from the agent's last start; undefined if no other program
   * has the session open.
   */
  #heldBy: string | undefined;
  /** Why the agent must not be started again. */
  #retired: RuntimeError | undefined;
  /**
   * True until an agent reports its settings, commands and limits. Until then, these values come from the session's
   * record.
   */
  #isLastKnown: boolean;
  readonly #lastKnownStore: LastKnownStore;
  readonly #mcpServers = new NamedMcpServers();
  /** Resolves when the current start is over. */
  #starting: Promise<unknown> | undefined;
  /** Watches the message that is being sent until its turn begins. */
  #sendWatchdog: Watchdog | undefined;

  constructor(context: SessionContext, projectTrust: ProjectTrust, options: SessionAgentOptions) {
    this.#context = context;
    this.#projectTrust = projectTrust;
    this.#options = options;
    this.#sessionId = context.sessionId;
    const { held, supervisor, lastKnown } = context;
    this.#isLastKnown = lastKnown !== undefined;
    this.#configOptions = lastKnown?.configOptions ?? [];
    this.#commands = lastKnown?.commands ?? [];
    this.#limits = lastKnown?.limits ?? [];
    this.#lastKnownStore = new LastKnownStore(context);
    this.#output = {
      emit: (draft) =>
        supervisor.run(() => {
          if (draft.payload.type !== 'item_delta') this.#note(draft);
          options.onDraft(draft);
        }),
      update: (update) => supervisor.run(() => this.#applyUpdate(update)),
      exit: (exit) => supervisor.run(() => this.#exited(exit)),
    };
    held.listen(this.#output);
  }

  /** The agent's reports about itself. */
  get reported(): Pick<
    SessionInfo,
    | 'configOptions'
    | 'commands'
    | 'tasks'
    | 'limits'
    | 'notices'
    | 'activity'
    | 'accepts'
    | 'canSteer'
    | 'lastKnown'
  > {
    const late = this.isAlive ? this.#mcpServers.late : undefined;
    const notices = [...this.#notices, ...(late ? [late] : []), ...this.#inUse];
    return {
      configOptions: this.#configOptions,
      commands: this.#commands,
      ...(this.#tasks.length > 0 && { tasks: [...this.#tasks] }),
      ...(this.#limits.length > 0 && { limits: this.#limits }),
      ...(notices.length > 0 && { notices }),
      ...(this.#activity !== '' && { activity: this.#activity }),
      ...(this.#accepts && { accepts: this.#accepts }),
      ...(this.#canSteer !== undefined && { canSteer: this.#canSteer }),
      ...(this.#isLastKnown && { lastKnown: true }),
    };
  }

  /** A notice that a queued message waits, because another program has the session open. */
  get #inUse(): SessionNotice[] {
    if (this.#heldBy === undefined || this.#context.record.value.queue.length === 0) return [];
    const text = `${this.#heldBy} Your message is sent as soon as the session is free.`;
    return [{ level: 'info', text }];
  }

  get isAlive(): boolean {
    return this.#context.held.isAlive;
  }

  get #openOptions(): OpenOptions {
    const { clients, record } = this.#context;
    const { projectId, projectDir, additionalDirectories, config } = record.value;
    const [sessionId, turnId] = [this.#sessionId, () => this.#turnId];
    return {
      projectDir,
      ...(additionalDirectories && { additionalDirectories }),
      config,
      grants: projectGrants(this.#context, projectId),
      projectTrust: this.#projectTrust,
      mcpServers: this.#mcpServers.take(),
      files: clients.files(sessionId, turnId),
      terminals: clients.terminals(sessionId, turnId),
    };
  }

  /** Adds MCP servers to this session; the agent gets the servers at its next start. */
  addMcpServers(servers: McpServers): void {
    this.#mcpServers.add(servers);
    if (this.isAlive) this.#context.changed();
  }

  forgetMcpServers(): void {
    this.#mcpServers.forget();
  }

  /** Whether the agent is running, starting or stopping. */
  get isInUse(): boolean {
    return this.isAlive || this.isStopping || this.#starts > 0;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Whether starting the agent before the next message saves time. */
  get prewarms(): boolean {
    return this.#context.driver.prewarms ?? false;
  }

  /** Whether a turn that waits for a user can continue after the agent was restarted. */
  get resumes(): boolean {
    return this.#context.driver.resumes ?? false;
  }

  /**
   * Throws `PROJECT_DIR_…` if a folder of the session is no longer allowed. Checks this even while the agent runs: a
   * link may have replaced the folder, and the next message is about the folder's files.
   */
  async admit(): Promise<void> {
    const { record, roots } = this.#context;
    const { projectDir, additionalDirectories = [] } = record.value;
    await Promise.all([roots.admit(projectDir), this.#admitAdditional(additionalDirectories)]);
  }

  async #admitAdditional(folders: readonly string[]): Promise<void> {
    const { record, roots } = this.#context;
    try {
      await roots.admitAdditional(record.value.projectDir, folders);
    } catch (error) {
      throw error instanceof RuntimeError ? error.ofSessionFolder() : error;
    }
  }

  /** Resolves when no start is in progress. */
  async started(): Promise<void> {
    await this.#starting;
  }

  /** Throws `PROJECT_DIR_…`. */
  async start(): Promise<void> {
    await this.#startAfter(this.admit());
  }

  async #startAfter(admitted?: Promise<void>): Promise<void> {
    this.#starts += 1;
    const starting = Promise.resolve(admitted).then(async () => this.#start());
    this.#starting = starting.catch(() => undefined);
    try {
      await starting;
    } finally {
      this.#starts -= 1;
    }
  }

  async #start(): Promise<void> {
    const { messageSpans, changed } = this.#context;
    await this.#stopping;
    if (this.#retired) throw this.#retired;
    if (this.isAlive) return;
    try {
      await (messageSpans ? messageSpans.timeAgentStart(async () => this.#load()) : this.#load());
      this.#heldBy = undefined;
    } catch (error) {
      this.#heldBy = error instanceof SessionInUseError ? error.message : undefined;
      throw error;
    } finally {
      changed();
    }
  }

  /** Opens the session at the agent; the agent does not know the session yet. */
  async create(): Promise<void> {
    await this.#context.held.open(this.#openOptions);
  }

  async #load(): Promise<void> {
    const { held, record } = this.#context;
    const { agentSessionId, storedMark, awaits } = record.value;
    const openOptions = this.#openOptions;
    try {
      const hasOpened = await held.open(openOptions, {
        hasAnswered: () => this.#hasAnswered(),
        ...(awaits === true && { resuming: true }),
        stored: { runs: async () => readConversation(this.#context, this.#sessionId) },
        ...(agentSessionId !== undefined && { agentSessionId }),
        ...(storedMark !== undefined && { storedMark }),
      });
      const reported = hasOpened ? held.session?.reportedTurns : undefined;
      if (reported) await this.#options.onTurnsReported(reported);
    } catch (error) {
      if (errorCode(error) !== 'SESSION_NOT_FOUND' || (await this.#hasAnswered())) throw error;
      await held.open(openOptions);
    }
  }

  /** Call `admit` first. Throws `CONTENT_NOT_SUPPORTED`, `BLOB_NOT_FOUND`. */
  async send({ message, blocks = [] }: UserMessage, turnId: string): Promise<void> {
    await this.#startAfter();
    const loaded = await loadBytes(this.#context.blobs, blocks);
    const deliver = async (): Promise<void> => {
      this.#sendWatchdog = this.#watchForTurn(this.#context.settings.idleLimitMs);
      try {
        const { held } = this.#context;
        held.checkAccepts(loaded);
        await held.opened.send(message, turnId, loaded);
      } finally {
        this.#sendWatchdog.stop();
        this.#sendWatchdog = undefined;
      }
    };
    const stops = this.#stops;
    try {
      await deliver();
    } catch (error) {
      const wasStopped = this.#stops !== stops;
      if (errorCode(error) !== 'PROCESS_CRASH' || this.isAlive || wasStopped) throw error;
      // The agent ended before it had received the message, for example because the agent had ignored a stop and was
      // ended: start the agent again.
      await this.#startAfter();
      await deliver();
    }
  }

  /**
   * Stops the message that is being sent. If the agent has received the message and then stays silent, without
   * beginning a turn, the agent is ended soon.
   */
  stopSending(): void {
    if (this.#sendWatchdog === undefined) return;
    this.#sendWatchdog.stop();
    const { idleLimitMs } = this.#context.settings;
    const limitMs = idleLimitMs === 0 ? stopLimitMs : Math.min(idleLimitMs, stopLimitMs);
    this.#sendWatchdog = this.#watchForTurn(limitMs, () => void this.stop());
  }

  /**
   * Watches an agent that has received a message: if the agent is silent for too long, and begins no turn, the agent is
   * ended.
   */
  #watchForTurn(idleLimitMs: number, end = () => this.#endSilentAgent()): Watchdog {
    return new Watchdog({
      heartbeatMs: 0,
      onHeartbeat: () => {},
      idleLimitMs,
      onIdle: () => this.#context.supervisor.run(end),
      // True if the agent began a turn: the turn has its own watchdog.
      excused: () => this.#turnId !== undefined,
    });
  }

  /** Ends the agent; the message is sent to the agent's next process. */
  #endSilentAgent(): void {
    const { held, logger, cliType } = this.#context;
    logger.warn(
      { sessionId: this.#sessionId, cliType },
      'an agent that began no turn for its message was ended',
    );
    void held.end();
  }

  /**
   * Steers a message into the running turn. Throws `NOT_SUPPORTED`, `NOTHING_TO_STEER`, `BLOB_NOT_FOUND`,
   * `PROCESS_CRASH`.
   */
  async steer({ message, blocks = [] }: UserMessage, to: SteerTarget): Promise<void> {
    const { held, blobs } = this.#context;
    if (!this.isAlive) throw agentErrors.NOTHING_TO_STEER.noTurn();
    const loaded = await loadBytes(blobs, blocks);
    const steer = held.method('steer');
    held.checkAccepts(loaded);
    await steer(message, to, loaded);
  }

  /**
   * Throws `CONTENT_NOT_SUPPORTED` if the agent has declared that it does not accept the message's content. Called
   * before the message is queued.
   */
  checkAccepts(blocks: readonly ContentBlock[]): void {
    const why = this.#accepts && whyNotAccepted('This agent', this.#accepts, blocks);
    if (why !== undefined) throw errors.CONTENT_NOT_SUPPORTED.because(why);
  }

  /** The agent's own id of the running turn, if the agent has one. */
  get turnId(): string | undefined {
    return this.#context.held.session?.agentTurnId;
  }

  async cancel(): Promise<void> {
    await this.#context.held.session?.cancel();
  }

  /** Ends the agent; it can be started again. */
  async stop(): Promise<void> {
    this.#stops += 1;
    this.#stopping ??= this.#context.held.end().finally(() => {
      this.#stopping = undefined;
      this.#context.supervisor.run(this.#context.changed);
    });
    await this.#stopping;
  }

  /** Resolves when the agent is not being stopped. */
  async stopped(): Promise<void> {
    await this.#stopping;
  }

  get isRetired(): boolean {
    return this.#retired !== undefined;
  }

  /** Prevents further starts of the agent; each is rejected with this error. */
  retire(why: RuntimeError): void {
    this.#retired ??= why;
  }

  /** Whether background tasks run. */
  get hasTasks(): boolean {
    return this.#tasks.length > 0;
  }

  /** Sets the session's title in the agent's own store, if the agent stores titles. */
  async rename(title: string): Promise<void> {
    const { held, driver, record, logger, cliType } = this.#context;
    const { projectDir, agentSessionId = this.#sessionId } = record.value;
    try {
      if (this.isAlive) await held.session?.rename?.(title);
      else if (await this.#hasAnswered()) {
        await driver.renameStored?.(agentSessionId, projectDir, title);
      }
    } catch (error) {
      if (errorCode(error) === 'NOT_SUPPORTED') return;
      logger.warn(
        { sessionId: this.#sessionId, cliType, err: error },
        'the agent kept its own title of a session',
      );
    }
  }

  /** Returns a method of the agent's session. Throws `NOT_SUPPORTED`, or `PROCESS_CRASH` if the agent does not run. */
  method: HeldSession['method'] = (name) => this.#context.held.method(name);

  /** Throws `NOT_SUPPORTED`. */
  assertSupports(method: Ability): void {
    assertSupports(this.#context.driver, method);
  }

  /** Returns a method as `method` does, but starts the agent first if needed. */
  async startFor<Name extends Ability>(name: Name): Promise<NonNullable<AgentSession[Name]>> {
    this.assertSupports(name);
    await this.start();
    return this.method(name);
  }

  async rewindFiles(turnId: string, dryRun: boolean): Promise<RewindResult> {
    return (await this.startFor('rewindFiles'))(turnId, dryRun);
  }

  /** Throws `CANNOT_REWIND`. */
  async rewindConversation(turnIds: readonly string[]): Promise<void> {
    const [from] = turnIds;
    const kept = { runs: async () => readConversation(this.#context, this.#sessionId, from) };
    const rewind = await this.startFor('rewindConversation');
    await rewind({ turnIds, remaining: kept });
  }

  /**
   * Sets the session's additional folders. If the agent must be restarted to get the folders, the agent is ended, and
   * the next message starts the agent again. Throws `NOT_SUPPORTED`, `TURN_IN_PROGRESS`.
   */
  async setDirectories(folders: readonly string[]): Promise<void> {
    // Starts the agent first, because only a running agent knows whether it accepts the folders.
    const set = await this.startFor('setDirectories');
    if (await set(folders)) return;
    if (this.#turnId !== undefined || this.hasTasks) {
      throw errors.TURN_IN_PROGRESS.restart();
    }
    await this.stop();
  }

  async setConfigOption(id: string, value: string): Promise<void> {
    await this.start();
    await this.method('setConfigOption')(id, value);
  }

  /** Stops listening to the agent; resolves when the agent's reports are in the record. */
  async close(): Promise<void> {
    this.#context.held.unlisten(this.#output);
    await this.#lastKnownStore.close();
  }

  /**
   * Whether the agent's own store has the session, according to history. Agents do not store a session without a turn,
   * nor a session whose turns were all cut off before the agent stored anything. Such a session cannot be resumed;
   * Liminal then creates it again at the agent.
   */
  async #hasAnswered(): Promise<boolean> {
    const runs = (await this.#context.store.listRuns(this.#sessionId)) ?? [];
    return runs.some(({ status }) => status === 'complete');
  }

  /** Handles an event that is not a delta. */
  #note({ turnId, payload }: EventDraft): void {
    this.#sendWatchdog?.recordActivity();
    const isOver = isTerminal(payload);
    this.#turnId = isOver ? undefined : turnId;
    if (isOver) this.#activity = '';
  }

  #exited(exit: SessionExit): void {
    this.#activity = '';
    // Tasks end with the agent's process.
    this.#tasks = [];
    this.#options.onExit(exit);
  }

  #applyNotices(notices: SessionNotice[]): void {
    const known = new Set(this.#notices.map(({ text }) => text));
    this.#notices = notices;
    const { logger, cliType } = this.#context;
    for (const { level, text } of notices) {
      const isNew = level === 'warning' && !known.has(text);
      if (isNew) logger.warn({ sessionId: this.#sessionId, cliType }, text);
    }
  }

  #applyUpdate(update: SessionUpdate): void {
    const { title, agentSessionId, configOptions, commands } = update;
    const { tasks, limits, notices, activity, accepts, canSteer } = update;
    this.#isLastKnown = false;
    if (configOptions) this.#configOptions = configOptions;
    if (commands) this.#commands = commands;
    if (configOptions || commands) {
      this.#lastKnownStore.store({ configOptions: this.#configOptions, commands: this.#commands });
    }
    if (tasks) this.#applyTasks(tasks);
    if (limits) this.#limits = limits;
    if (notices) this.#applyNotices(notices);
    if (activity !== undefined) this.#activity = activity;
    if (accepts) this.#accepts = accepts;
    if (canSteer !== undefined) this.#canSteer = canSteer;
    this.#context.changed();
    const config = configOptions && this.#changedConfig(configOptions);
    if (title === undefined && agentSessionId === undefined && config === undefined) return;
    this.#context.record.tryUpdate({
      ...(title !== undefined && { title }),
      ...(agentSessionId !== undefined && this.#renamedIds(agentSessionId)),
      ...(config !== undefined && { config }),
    });
  }

  /**
   * Returns the changes to the record when the agent uses a new id for the session. The earlier ids are kept, because
   * the agent's store still lists them: session lists leave them out.
   */
  #renamedIds(
    agentSessionId: string,
  ): Pick<SessionRecord, 'agentSessionId' | 'formerAgentSessionIds'> {
    const { agentSessionId: earlier, formerAgentSessionIds = [] } = this.#context.record.value;
    if (earlier === undefined || earlier === agentSessionId) return { agentSessionId };
    const former = [...formerAgentSessionIds, earlier].filter((id) => id !== agentSessionId);
    return { agentSessionId, formerAgentSessionIds: former.slice(-maxFormerIds) };
  }

  /**
   * Stores the running tasks in the record, so that the next agent can report the end of these tasks even if agent and
   * server end first.
   */
  #applyTasks(tasks: readonly BackgroundTask[]): void {
    this.#tasks = tasks;
    const { record } = this.#context;
    const stored = tasks.map(({ taskId, title }) => ({ taskId, title }));
    const idsOf = (some: typeof stored = []): string => some.map(({ taskId }) => taskId).join();
    if (idsOf(stored) !== idsOf(record.value.tasks)) record.tryUpdate({ tasks: stored });
  }

  /**
   * Returns the session's settings with the values that the agent changed: for example, accepting a plan ends the
   * planning mode.
   */
  #changedConfig(options: readonly ConfigOption[]): Record<string, string> | undefined {
    const { config } = this.#context.record.value;
    const changed = options.filter(
      ({ id, currentValue }) => (config[id] ?? currentValue) !== currentValue,
    );
    if (changed.length === 0) return undefined;
    return { ...config, ...Object.fromEntries(changed.map((one) => [one.id, one.currentValue])) };
  }
}

/** Throws `NOT_SUPPORTED`. */
export function assertSupports(driver: AgentDriver, method: Ability): void {
  if (driver[abilities[method]] !== true) throw agentErrors.NOT_SUPPORTED[method](driver.name);
}
