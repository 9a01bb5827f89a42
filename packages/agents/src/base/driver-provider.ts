import { randomUUID } from 'node:crypto';
import type {
  AgentInfo,
  ApprovalAnswer,
  ContentBlock,
  McpAction,
  McpActionResult,
  McpServerState,
  RewindResult,
  SessionSetup,
} from '@liminal/protocol';
import { errors } from '../contract/errors.ts';
import type { AgentDriver, EarlierSession } from '../contract/driver.ts';
import type {
  AgentCapabilities,
  CliProvider,
  ConversationRewind,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
  SteerTarget,
  Unsubscribe,
} from '../contract/provider.ts';
import { forkStored } from './fork-stored.ts';
import { AgentSessions, type HeldSession } from './held-session.ts';
import { SessionFeed } from './session-feed.ts';

/**
 * A method of `AgentCapabilities`. If every driver of this class has the method, its type does not include undefined.
 */
type Ability<
  Driver extends AgentDriver,
  Name extends keyof AgentCapabilities,
> = undefined extends Driver[Name] ? AgentCapabilities[Name] : NonNullable<AgentCapabilities[Name]>;

/**
 * Seed 000's `CliProvider` over a driver, for programs that embed agents without Liminal's runtime: addresses sessions
 * by their ids, and has many listeners per session. The runtime uses `AgentSessions` instead.
 */
export class DriverProvider<Driver extends AgentDriver = AgentDriver> implements CliProvider {
  readonly driver: Driver;
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
  readonly introduce: Ability<Driver, 'introduce'>;
  readonly readProjectSettings: Ability<Driver, 'readProjectSettings'>;
  readonly listStoredSessions: Ability<Driver, 'listStoredSessions'>;
  readonly peekStoredSessions: Ability<Driver, 'peekStoredSessions'>;
  readonly scanStoredSessions: Ability<Driver, 'scanStoredSessions'>;
  readonly storedMark: Ability<Driver, 'storedMark'>;
  readonly readStoredHistory: Ability<Driver, 'readStoredHistory'>;
  readonly fork: Ability<Driver, 'fork'>;
  readonly renameStored: Ability<Driver, 'renameStored'>;
  readonly isTaskOutput: Ability<Driver, 'isTaskOutput'>;
  readonly #sessions: AgentSessions;
  /** The feeds that have listeners. */
  readonly #feeds = new Map<string, SessionFeed>();

  constructor(driver: Driver) {
    this.driver = driver;
    this.#sessions = new AgentSessions(driver);
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
    this.introduce = driver.introduce?.bind(driver) as Ability<Driver, 'introduce'>;
    this.readProjectSettings = driver.readProjectSettings?.bind(driver) as Ability<
      Driver,
      'readProjectSettings'
    >;
    this.listStoredSessions = driver.listStoredSessions?.bind(driver) as Ability<
      Driver,
      'listStoredSessions'
    >;
    this.peekStoredSessions = driver.peekStoredSessions?.bind(driver) as Ability<
      Driver,
      'peekStoredSessions'
    >;
    this.scanStoredSessions = driver.scanStoredSessions?.bind(driver) as Ability<
      Driver,
      'scanStoredSessions'
    >;
    this.storedMark = driver.storedMark?.bind(driver) as Ability<Driver, 'storedMark'>;
    this.renameStored = driver.renameStored?.bind(driver) as Ability<Driver, 'renameStored'>;
    this.isTaskOutput = driver.isTaskOutput?.bind(driver) as Ability<Driver, 'isTaskOutput'>;
    const read = driver.readStoredHistory?.bind(driver);
    this.readStoredHistory = (read &&
      ((id: string, projectDir: string) =>
        read(this.#held(id).before?.agentSessionId ?? id, projectDir))) as Ability<
      Driver,
      'readStoredHistory'
    >;
    const fork: AgentDriver['fork'] = (...asked) => forkStored(driver, ...asked);
    this.fork = (driver.fork && fork) as Ability<Driver, 'fork'>;
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
    await this.#held(sessionId).open(wanted);
    return { sessionId, cliType: this.cliType };
  }

  async loadSession(sessionId: string, options: LoadSessionOptions = {}): Promise<ProviderSession> {
    const { agentSessionId, storedMark, hasAnswered, resuming, stored, ...wanted } = options;
    const known: EarlierSession = { agentSessionId, storedMark, hasAnswered, resuming, stored };
    const held = this.#held(sessionId);
    const reportedTurns = (await held.open(wanted, known))
      ? held.session?.reportedTurns
      : undefined;
    // The caller may ignore `reportedTurns`: its rejection must not be unhandled.
    reportedTurns?.catch(() => undefined);
    const session = { sessionId, cliType: this.cliType };
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
    const held = this.#held(sessionId);
    held.checkAccepts(blocks);
    await held.opened.send(message, turnId, blocks);
    return { turnId };
  }

  async steer(
    sessionId: string,
    message: string,
    { blocks = [], ...to }: SteerTarget & { blocks?: readonly ContentBlock[] },
  ): Promise<void> {
    const held = this.#held(sessionId);
    const steer = held.method('steer');
    held.checkAccepts(blocks);
    await steer(message, to, blocks);
  }

  async cancelTurn(sessionId: string): Promise<void> {
    const held = this.#held(sessionId);
    if (held.before === undefined) throw held.notFound();
    await held.session?.cancel();
  }

  async killSession(sessionId: string): Promise<void> {
    const held = this.#held(sessionId);
    if (!held.isOpening && held.before === undefined) throw held.notFound();
    await held.end();
  }

  isAlive(sessionId: string): boolean {
    return this.#held(sessionId).isAlive;
  }

  agentTurnId(sessionId: string): string | undefined {
    return this.#held(sessionId).session?.agentTurnId;
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    await this.#held(sessionId).method('answerApproval')(approvalId, answer);
  }

  async setConfigOption(sessionId: string, id: string, value: string): Promise<void> {
    await this.#held(sessionId).method('setConfigOption')(id, value);
  }

  async setDirectories(sessionId: string, folders: readonly string[]): Promise<boolean> {
    return this.#held(sessionId).method('setDirectories')(folders);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.#held(sessionId).method('rename')(title);
  }

  async background(sessionId: string, callId?: string): Promise<void> {
    await this.#held(sessionId).method('background')(callId);
  }

  async stopTask(sessionId: string, taskId: string): Promise<void> {
    await this.#held(sessionId).method('stopTask')(taskId);
  }

  async rewindFiles(sessionId: string, turnId: string, dryRun: boolean): Promise<RewindResult> {
    return this.#held(sessionId).method('rewindFiles')(turnId, dryRun);
  }

  async rewindConversation(sessionId: string, rewind: ConversationRewind): Promise<void> {
    await this.#held(sessionId).method('rewindConversation')(rewind);
  }

  async aside(sessionId: string, question: string): Promise<string> {
    return this.#held(sessionId).method('aside')(question);
  }

  async setup(sessionId: string): Promise<SessionSetup> {
    return this.#held(sessionId).method('setup')();
  }

  async listMcpServers(sessionId: string): Promise<McpServerState[]> {
    return this.#held(sessionId).method('listMcpServers')();
  }

  async changeMcpServer(
    sessionId: string,
    name: string,
    action: McpAction,
  ): Promise<McpActionResult> {
    return this.#held(sessionId).method('changeMcpServer')(name, action);
  }

  describe(): Promise<AgentInfo> {
    return this.driver.describe();
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }

  #held(sessionId: string): HeldSession {
    return this.#sessions.get(sessionId);
  }

  #subscribe(sessionId: string, subscribe: (feed: SessionFeed) => Unsubscribe): Unsubscribe {
    const feed = this.#feeds.get(sessionId) ?? this.#newFeed(sessionId);
    const unsubscribe = subscribe(feed);
    return () => {
      unsubscribe();
      if (!feed.hasNoSubscribers || this.#feeds.get(sessionId) !== feed) return;
      this.#feeds.delete(sessionId);
      this.#held(sessionId).unlisten(feed);
    };
  }

  #newFeed(sessionId: string): SessionFeed {
    const feed = new SessionFeed(sessionId);
    this.#feeds.set(sessionId, feed);
    this.#held(sessionId).listen(feed);
    return feed;
  }
}
