import { randomUUID } from 'node:crypto';
import {
  type AgentInfo,
  type ApprovalAnswer,
  type ContentBlock,
  type McpAction,
  type McpActionResult,
  type McpServerState,
  thrownMessage,
  type RewindResult,
  type SessionSetup,
  whyNotAccepted,
} from '@liminal/protocol';
import type {
  AgentDriver,
  AgentSession,
  EarlierSession,
  SessionOpening,
} from '../contract/driver.ts';
import type { SteerTarget } from '../contract/provider.ts';
import { errors, ProviderError } from '../contract/errors.ts';
import type {
  CliProvider,
  ConversationRewind,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
  StoredFork,
  Unsubscribe,
} from '../contract/provider.ts';
import { onlyText } from './accepted-content.ts';
import { LruMap } from './lru-map.ts';
import { SessionFeed } from './session-feed.ts';
import { Semaphore } from '../contract/semaphore.ts';
import { stat } from 'node:fs/promises';

/**
 * How many ended sessions are remembered; to open an older session again, the caller must pass the session's folder and
 * the agent's own id for the session.
 */
const maxEnded = 1_000;
const defaultStarts = 2;

/** A session that runs, is being opened, or has listeners. */
interface SessionEntry {
  readonly sessionId: string;
  readonly feed: SessionFeed;
  /** Shared by all callers that open the session; ending the session aborts it. */
  opening?: { opened: Promise<ProviderSession>; abort: AbortController } | undefined;
  /** A crashed session keeps its entry until it is ended or opened again. */
  running?: RunningSession | undefined;
}

interface RunningSession {
  session: AgentSession;
  projectDir: string;
  /** Set once the session is being closed: `isAlive` must be false even if the driver's session still reports true. */
  isClosing?: true;
}

/** The data needed to open a session again. */
interface EndedSession {
  projectDir: string;
  agentSessionId: string | undefined;
  memory: unknown;
}

/** The options that new and resumed sessions share. */
type OpenOptions = Omit<
  SessionOpening,
  'sessionId' | 'projectDir' | 'config' | 'output' | 'signal'
> & {
  projectDir?: string | undefined;
  config?: Record<string, string> | undefined;
};

/** `CliProvider` for every kind of agent: keeps the sessions and their listeners, and opens and ends sessions. */
export class DriverProvider implements CliProvider {
  readonly cliType: string;
  readonly prewarms: boolean;
  readonly rewinds: boolean;
  readonly rewindsConversation: boolean;
  readonly backgrounds: boolean;
  readonly usesGrants: boolean;
  readonly managesMcp: boolean;
  readonly takesDirectories: boolean;
  readonly tellsSetup: boolean;
  readonly answersAside: boolean;
  readonly resumes: boolean;
  readonly numbersStoredTurns: boolean;
  readonly forksWhole: boolean;
  readonly introduce: CliProvider['introduce'];
  readonly readProjectSettings: CliProvider['readProjectSettings'];
  readonly listStoredSessions: CliProvider['listStoredSessions'];
  readonly peekStoredSessions: CliProvider['peekStoredSessions'];
  readonly scanStoredSessions: CliProvider['scanStoredSessions'];
  readonly storedMark: CliProvider['storedMark'];
  readonly readStoredHistory: CliProvider['readStoredHistory'];
  readonly fork: CliProvider['fork'];
  readonly renameStored: CliProvider['renameStored'];
  readonly isTaskOutput: CliProvider['isTaskOutput'];
  readonly #driver: AgentDriver;
  readonly #starts: Semaphore;
  readonly #entries = new Map<string, SessionEntry>();
  readonly #ended = new LruMap<string, EndedSession>(maxEnded);

  constructor(driver: AgentDriver) {
    this.#driver = driver;
    this.#starts = driver.starts ?? new Semaphore(defaultStarts);
    this.cliType = driver.cliType;
    this.prewarms = driver.prewarms ?? false;
    this.rewinds = driver.rewinds ?? false;
    this.rewindsConversation = driver.rewindsConversation ?? false;
    this.backgrounds = driver.backgrounds ?? false;
    this.usesGrants = driver.usesGrants ?? false;
    this.managesMcp = driver.managesMcp ?? false;
    this.takesDirectories = driver.takesDirectories ?? false;
    this.tellsSetup = driver.tellsSetup ?? false;
    this.answersAside = driver.answersAside ?? false;
    this.resumes = driver.resumes ?? false;
    this.numbersStoredTurns = driver.numbersStoredTurns ?? false;
    this.forksWhole = driver.forksWhole ?? false;
    this.introduce = driver.introduce?.bind(driver);
    this.readProjectSettings = driver.readProjectSettings?.bind(driver);
    this.listStoredSessions = driver.listStoredSessions?.bind(driver);
    this.peekStoredSessions = driver.peekStoredSessions?.bind(driver);
    this.scanStoredSessions = driver.scanStoredSessions?.bind(driver);
    this.storedMark = driver.storedMark?.bind(driver);
    this.renameStored = driver.renameStored?.bind(driver);
    this.isTaskOutput = driver.isTaskOutput?.bind(driver);
    const read = driver.readStoredHistory?.bind(driver);
    this.readStoredHistory =
      read && ((id, projectDir) => read(this.#before(id)?.agentSessionId ?? id, projectDir));
    const fork = driver.fork?.bind(driver);
    this.fork = fork && ((...asked) => this.#explained(fork(...asked)));
  }

  readonly onEvent: CliProvider['onEvent'] = (id, callback) =>
    this.#subscribe(id, (feed) => feed.on('event', callback));
  readonly onUpsert: CliProvider['onUpsert'] = (id, callback) =>
    this.#subscribe(id, (feed) => feed.on('upsert', callback));
  readonly onTurn: CliProvider['onTurn'] = (id, callback) =>
    this.#subscribe(id, (feed) => feed.on('turn', callback));
  readonly onUpdate: CliProvider['onUpdate'] = (id, callback) =>
    this.#subscribe(id, (feed) => feed.on('update', callback));
  readonly onExit: CliProvider['onExit'] = (id, callback) =>
    this.#subscribe(id, (feed) => feed.on('exit', callback));

  async createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    const { sessionId = randomUUID(), ...wanted } = options;
    if (this.isAlive(sessionId)) {
      throw errors.SESSION_CREATE_FAILED.exists(sessionId);
    }
    return this.#open(sessionId, wanted);
  }

  async loadSession(sessionId: string, options: LoadSessionOptions = {}): Promise<ProviderSession> {
    const opened = this.#entries.get(sessionId)?.opening?.opened;
    if (opened !== undefined) return opened;
    if (this.isAlive(sessionId)) return { sessionId, cliType: this.cliType };
    const { agentSessionId, storedMark, hasAnswered, resuming, stored, ...wanted } = options;
    const known: EarlierSession = { agentSessionId, storedMark, hasAnswered, resuming, stored };
    const session = await this.#open(sessionId, wanted, known);
    const reportedTurns = this.#entries.get(sessionId)?.running?.session.reportedTurns;
    // The caller may ignore `reportedTurns`: its rejection must not be unhandled.
    reportedTurns?.catch(() => undefined);
    return reportedTurns === undefined ? session : { ...session, reportedTurns };
  }

  async sendMessage(
    sessionId: string,
    message: string,
    {
      turnId = randomUUID(),
      blocks = [],
    }: { turnId?: string; blocks?: readonly ContentBlock[] } = {},
  ): Promise<SendMessageResult> {
    const session = this.#session(sessionId);
    this.#checkAccepts(session, blocks);
    await session.send(message, turnId, blocks);
    return { turnId };
  }

  async steer(
    sessionId: string,
    message: string,
    { blocks = [], ...to }: SteerTarget & { blocks?: readonly ContentBlock[] },
  ): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.steer) {
      throw this.#notSupported('steering');
    }
    this.#checkAccepts(session, blocks);
    await session.steer(message, to, blocks);
  }

  async cancelTurn(sessionId: string): Promise<void> {
    if (!this.#ended.has(sessionId)) await this.#session(sessionId).cancel();
  }

  async killSession(sessionId: string): Promise<void> {
    const entry = this.#entries.get(sessionId);
    const wasOpening = entry?.opening !== undefined;
    if (entry && wasOpening) await this.#giveUp(entry);
    if (entry?.running) await this.#end(entry);
    else if (!wasOpening && !this.#ended.has(sessionId)) throw this.#notFound(sessionId);
  }

  isAlive(sessionId: string): boolean {
    const running = this.#entries.get(sessionId)?.running;
    return running !== undefined && running.isClosing !== true && running.session.isAlive;
  }

  agentTurnId(sessionId: string): string | undefined {
    return this.#entries.get(sessionId)?.running?.session.agentTurnId;
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.answerApproval) throw this.#notSupported('approvals');
    await session.answerApproval(approvalId, answer);
  }

  async setConfigOption(sessionId: string, id: string, value: string): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.setConfigOption) throw this.#notSupported('settings');
    await session.setConfigOption(id, value);
  }

  async setDirectories(sessionId: string, folders: readonly string[]): Promise<boolean> {
    const session = this.#session(sessionId);
    if (!session.setDirectories) throw this.#notSupported('directories');
    return session.setDirectories(folders);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.rename) throw this.#notSupported('rename');
    await session.rename(title);
  }

  async background(sessionId: string, callId?: string): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.background) throw this.#notSupported('background');
    await session.background(callId);
  }

  async stopTask(sessionId: string, taskId: string): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.stopTask) throw this.#notSupported('tasks');
    await session.stopTask(taskId);
  }

  async rewindFiles(sessionId: string, turnId: string, dryRun: boolean): Promise<RewindResult> {
    const session = this.#session(sessionId);
    if (!session.rewindFiles) throw this.#notSupported('rewindFiles');
    return session.rewindFiles(turnId, dryRun);
  }

  async rewindConversation(sessionId: string, rewind: ConversationRewind): Promise<void> {
    const session = this.#session(sessionId);
    if (!session.rewindConversation) throw this.#notSupported('rewindConversation');
    await session.rewindConversation(rewind);
  }

  async aside(sessionId: string, question: string): Promise<string> {
    const session = this.#session(sessionId);
    if (!session.aside) throw this.#notSupported('aside');
    return session.aside(question);
  }

  async setup(sessionId: string): Promise<SessionSetup> {
    const session = this.#session(sessionId);
    if (!session.setup) throw this.#notSupported('setup');
    return session.setup();
  }

  async listMcpServers(sessionId: string): Promise<McpServerState[]> {
    const session = this.#session(sessionId);
    if (!session.listMcpServers) throw this.#notSupported('mcpServers');
    return session.listMcpServers();
  }

  async changeMcpServer(
    sessionId: string,
    name: string,
    action: McpAction,
  ): Promise<McpActionResult> {
    const session = this.#session(sessionId);
    if (!session.changeMcpServer) throw this.#notSupported('mcpChanges');
    return session.changeMcpServer(name, action);
  }

  async #explained(forking: Promise<StoredFork>): Promise<StoredFork> {
    try {
      return await forking;
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      const { notForked } = errors.SESSION_CREATE_FAILED;
      throw notForked(this.#driver.name, thrownMessage(error), { cause: error });
    }
  }

  describe(): Promise<AgentInfo> {
    return this.#driver.describe();
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    await Promise.all(entries.map((entry) => this.#giveUp(entry)));
    await Promise.all([this.#driver.close?.(), ...entries.map((entry) => this.#end(entry))]);
    for (const { feed } of entries) feed.close();
    this.#entries.clear();
  }

  #entry(sessionId: string): SessionEntry {
    const known = this.#entries.get(sessionId);
    if (known !== undefined) return known;
    const entry = { sessionId, feed: new SessionFeed(sessionId) };
    this.#entries.set(sessionId, entry);
    return entry;
  }

  #subscribe(sessionId: string, subscribe: (feed: SessionFeed) => Unsubscribe): Unsubscribe {
    const entry = this.#entry(sessionId);
    const unsubscribe = subscribe(entry.feed);
    return () => {
      unsubscribe();
      this.#forgetUnused(entry);
    };
  }

  #forgetUnused({ sessionId, feed, opening, running }: SessionEntry): void {
    const isUsed = opening !== undefined || running !== undefined || !feed.hasNoSubscribers;
    if (!isUsed && this.#entries.get(sessionId)?.feed === feed) this.#entries.delete(sessionId);
  }

  /** Returns the opening in progress, or begins a new one. */
  #open(sessionId: string, wanted: OpenOptions, known?: EarlierSession): Promise<ProviderSession> {
    const entry = this.#entry(sessionId);
    if (entry.opening !== undefined) return entry.opening.opened;
    const abort = new AbortController();
    const { signal } = abort;
    const opened = this.#starts
      .run(() => this.#begin(entry, wanted, known, signal), signal)
      .finally(() => {
        entry.opening = undefined;
        this.#forgetUnused(entry);
      });
    entry.opening = { opened, abort };
    return opened;
  }

  async #begin(
    entry: SessionEntry,
    { projectDir: given, config = {}, ...wanted }: OpenOptions,
    known: EarlierSession | undefined,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const { sessionId, feed } = entry;
    const before = this.#before(sessionId);
    const agentSessionId = known?.agentSessionId ?? before?.agentSessionId;
    const projectDir =
      given ??
      before?.projectDir ??
      (await this.#driver.findProjectDir?.(agentSessionId ?? sessionId));
    if (projectDir === undefined) throw this.#notFound(sessionId);
    await checkFolder(projectDir);
    // Close a crashed agent first: a session must never have two running agents.
    await this.#end(entry);
    signal.throwIfAborted();
    const earlier = known && { ...known, agentSessionId, memory: before?.memory };
    const announce = feed.hold();
    try {
      const opening = { ...wanted, sessionId, projectDir, config, output: feed, signal };
      const session = await this.#driver.open({ ...opening, ...(earlier && { earlier }) });
      this.#ended.delete(sessionId);
      entry.running = { session, projectDir };
      const canSteer = session.steer !== undefined;
      feed.update({ accepts: session.accepts ?? onlyText, canSteer });
      // Announce the session later, so that the caller can add listeners first.
      setImmediate(() => announce(session.isAlive));
      return { sessionId, cliType: this.cliType };
    } catch (error) {
      announce(false);
      throw error;
    }
  }

  /** Resolves when the session is no longer being opened; the opening may have succeeded before the abort. */
  async #giveUp({ opening }: SessionEntry): Promise<void> {
    opening?.abort.abort(errors.SESSION_CREATE_FAILED.endedBefore(this.#driver.name));
    await opening?.opened.catch(() => undefined);
  }

  /** Closes a running or crashed session, and keeps only the data needed to open it again. */
  async #end(entry: SessionEntry): Promise<void> {
    const { running, sessionId } = entry;
    if (running === undefined) return;
    running.isClosing = true;
    await running.session.close();
    if (entry.running !== running) return;
    entry.running = undefined;
    this.#ended.set(sessionId, remembered(running));
    this.#forgetUnused(entry);
  }

  /** The data for opening a session that runs, has crashed, or was ended. */
  #before(sessionId: string): EndedSession | undefined {
    const running = this.#entries.get(sessionId)?.running;
    return running ? remembered(running) : this.#ended.get(sessionId);
  }

  #checkAccepts({ accepts = onlyText }: AgentSession, blocks: readonly ContentBlock[]): void {
    const why = whyNotAccepted(this.#driver.name, accepts, blocks);
    if (why !== undefined) throw errors.CONTENT_NOT_SUPPORTED.because(why);
  }

  /** Throws ProviderError `SESSION_NOT_FOUND`, or `PROCESS_CRASH` for a session that was ended. */
  #session(sessionId: string): AgentSession {
    const running = this.#entries.get(sessionId)?.running;
    if (running !== undefined) return running.session;
    if (!this.#ended.has(sessionId)) throw this.#notFound(sessionId);
    throw errors.PROCESS_CRASH.notRunning(this.#driver.name);
  }

  #notFound(sessionId: string): ProviderError {
    return errors.SESSION_NOT_FOUND.unknown(this.#driver.name, sessionId);
  }

  #notSupported(feature: keyof typeof errors.NOT_SUPPORTED): ProviderError {
    return errors.NOT_SUPPORTED[feature](this.#driver.name);
  }
}

function remembered({ session, projectDir }: RunningSession): EndedSession {
  const { agentSessionId, memory } = session;
  return { projectDir, agentSessionId, memory };
}

/**
 * Throws ProviderError `SESSION_CREATE_FAILED` if the project folder is missing or not a folder: agents report that
 * unclearly.
 */
async function checkFolder(projectDir: string): Promise<void> {
  const found = await stat(projectDir).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const { folderMissing, notFolder } = errors.SESSION_CREATE_FAILED;
  throw (found === undefined ? folderMissing : notFolder)(projectDir);
}
