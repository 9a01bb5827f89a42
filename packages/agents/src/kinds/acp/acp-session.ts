import { randomUUID } from 'node:crypto';
import {
  type AcceptedContent,
  type ApprovalAnswer,
  asError,
  type ConfigOption,
  type ContentBlock,
} from '@liminal/protocol';
import { isoNow as now } from '../../base/iso-clock.ts';
import type { AgentSession, SessionOutput } from '../../contract/driver.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { SessionUpdate, StoredTurn } from '../../contract/provider.ts';
import type { AcpAgent, HostedSession, SteeredMessages } from './acp-agent.ts';
import { AcpSettings } from './acp-settings.ts';
import { AcpTurns } from './acp-turns.ts';
import type { AgentPool } from '../../base/agent-pool.ts';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { ClientTerminals } from '../../contract/client-terminals.ts';
import { childEnvironment } from '../../base/child-environment.ts';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { SessionClient } from './client-side/session-client.ts';
import { describeError } from './errors.ts';
import { ProtocolBreach } from '../../base/protocol-breach.ts';
import { type Opened, Replay } from './replay.ts';
import { storedMark } from './stored-mark.ts';
import type { TurnEnd } from '../../base/turn-writer.ts';
import { readReplay } from './translate/replay.ts';
import { AcpTranslator } from './translate/translator.ts';
import { isRecord } from './translate/fields.ts';

export interface AcpSessionOptions {
  cliType: string;
  /** The agent's name in the UI. */
  name: string;
  agent: AcpAgent;
  agentSessionId: string;
  projectDir: string;
  additionalDirectories: readonly string[];
  files?: ClientFiles | undefined;
  terminals?: ClientTerminals | undefined;
  hiddenFolders: HiddenFolders;
  env: Record<string, string>;
  inherited: NodeJS.ProcessEnv;
  cancelLimitMs: number;
  ownTurnIdleMs: number;
  output: SessionOutput;
  /** The pool that the agent came from and is returned to. */
  pool: AgentPool<AcpAgent>;
}

/** The state that opening a session again needs. */
export interface AcpMemory {
  config: Record<string, string>;
  /** Whether the agent has stored the session: most agents do not store a session without a message. */
  isStored: boolean;
  /** Notices for the next turn. */
  pendingNotices: readonly string[];
}

/** How long an agent may take to change a setting, ms. */
const settingLimitMs = 30_000;

/** A session of an ACP agent, over all of its turns. */
export class AcpSession implements AgentSession<AcpMemory>, HostedSession {
  readonly client: SessionClient;
  /** The turns that the agent replayed when the session was loaded. */
  reportedTurns: Promise<StoredTurn[]> | undefined;
  /** Set only if the agent asks for messages to the running turn. */
  readonly steer?: NonNullable<AgentSession['steer']>;
  readonly #options: AcpSessionOptions;
  readonly #translator: AcpTranslator;
  readonly #turns: AcpTurns;
  readonly #settings = new AcpSettings();
  #configOptions: readonly ConfigOption[] = [];
  #isAlive = true;
  /**
   * Whether the agent has answered the opening request; conversation updates before the answer repeat earlier turns.
   */
  #isOpen = false;
  readonly #replay = new Replay();
  /** Session updates that are held back until the session is announced; undefined afterwards. */
  #heldUpdate: SessionUpdate | undefined;
  /** Notices for the next turn. */
  #notices: string[] = [];
  #isStored = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: AcpSessionOptions) {
    this.#options = options;
    const { agentSessionId, projectDir, env, inherited, output } = options;
    this.#heldUpdate = { agentSessionId };
    this.#translator = new AcpTranslator({
      cliType: options.cliType,
      createTurnId: () => randomUUID(),
      emit: (draft) => output.emit(draft),
      update: (update) => this.#report(update),
    });
    this.client = new SessionClient({
      cliType: options.cliType,
      projectDir,
      additionalDirectories: options.additionalDirectories,
      files: options.files,
      hiddenFolders: options.hiddenFolders,
      clients: options.terminals,
      translator: this.#translator,
      env: (own, mark) => childEnvironment(inherited, { ...env, ...own }, mark),
      state: () => ({
        canAsk: this.#isOpen && !this.#turns.isStale,
        isCancelled: this.#turns.isCancelled,
      }),
      onAsk: () => this.#turns.onActivity(),
    });
    const { client } = this;
    const onSilent = () => this.#onSilent();
    this.#turns = new AcpTurns({ ...options, translator: this.#translator, client, onSilent });
    if (options.agent.asksForMessages) {
      this.steer = (text, to, blocks) => this.#steer(text, to, blocks);
    }
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get accepts(): AcceptedContent {
    const { image, audio, embeddedContext } =
      this.#options.agent.capabilities.promptCapabilities ?? {};
    return {
      image: image === true ? ['image/*'] : [],
      audio: audio === true ? ['audio/*'] : [],
      resource: embeddedContext === true ? ['text/*', 'image/*', 'audio/*', 'application/*'] : [],
    };
  }

  get agentSessionId(): string {
    return this.#options.agentSessionId;
  }

  get memory(): AcpMemory {
    return { config: this.config, isStored: this.#isStored, pendingNotices: this.#notices };
  }

  get configOptions(): readonly ConfigOption[] {
    return this.#configOptions;
  }

  /** The current settings, by id. */
  get config(): Record<string, string> {
    return Object.fromEntries(
      this.#configOptions.map(({ id, currentValue }) => [id, currentValue]),
    );
  }

  /**
   * Reads the agent's answer that opened the session. From now on, conversation updates are new and no longer a replay
   * of earlier turns.
   */
  open(answer: unknown, opened: Opened, notices: readonly string[]): void {
    this.#isOpen = true;
    this.#isStored = opened.how !== 'begun';
    this.#replay.answered(opened);
    this.#applyAnswer(answer);
    this.#notices = [...notices];
  }

  /** Starts to read the agent's replay of earlier turns. */
  startReplay(): void {
    this.reportedTurns = this.#readReplay();
  }

  /** Shows warnings as long as the session runs. */
  warn(texts: readonly string[]): void {
    this.#report({ notices: texts.map((text) => ({ level: 'warning', text })) });
  }

  /** Sends the held-back updates; later updates are sent at once. */
  announce(): void {
    const heldUpdate = this.#heldUpdate;
    this.#heldUpdate = undefined;
    if (heldUpdate !== undefined) this.#options.output.update(heldUpdate);
  }

  /** Sends a user message; resolves when its turn has begun. `PROCESS_CRASH`, `TURN_IN_PROGRESS`. */
  async send(text: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void> {
    this.#checkAlive();
    // Wait for the end of the replay: otherwise the answer and the replay would mix.
    await this.#replay.ended;
    await this.#turns.send(text, turnId, blocks, () => this.#checkAlive());
    this.#isStored = true;
    for (const title of this.#notices.splice(0)) this.#translator.warn(title, now());
  }

  async #steer(text: string, to: SteerTarget, blocks: readonly ContentBlock[]): Promise<void> {
    this.#checkAlive();
    this.#turns.steer(text, to, blocks);
  }

  async cancel(): Promise<void> {
    if (this.#isAlive) this.#turns.cancel();
  }

  /** Ends the session and all processes that the session started; a running turn first ends as cancelled. */
  async close(): Promise<void> {
    if (this.#isAlive) {
      const { agent, agentSessionId: sessionId } = this.#options;
      const isBusy = this.#translator.turn !== undefined;
      this.#end({ type: 'response_done', status: 'cancelled', finishReason: 'killed' });
      if (isBusy) agent.notify('session/cancel', { sessionId });
      this.#ended = this.#leave();
      this.#options.output.exit({ expected: true });
    }
    await this.#ended;
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    this.client.answer(approvalId, answer);
  }

  /** Resolves to false: agents accept folders only when a session is opened. Throws ProviderError `NOT_SUPPORTED`. */
  async setDirectories(): Promise<boolean> {
    const { agent, name } = this.#options;
    if (agent.capabilities.sessionCapabilities?.additionalDirectories === true) return false;
    throw errors.NOT_SUPPORTED.setDirectories(name);
  }

  /** Throws ProviderError `INVALID_OPTION` or `PROCESS_CRASH`. */
  async setConfigOption(id: string, value: string): Promise<void> {
    this.#checkAlive();
    const { agent, agentSessionId: sessionId, name } = this.#options;
    const { method, params, known } = this.#settings.change(this.#configOptions, id, value);
    try {
      const request = agent.request(method, { sessionId, ...params });
      const answer = await agent.within(settingLimitMs, request);
      this.#applyAnswer(known);
      this.#applyAnswer(answer);
    } catch (error) {
      this.#checkAlive();
      throw errors.INVALID_OPTION.notSet(name, id, value, describeError(error), { cause: error });
    }
  }

  /** Sets the title in the agent's own store, if the agent can (ACP, not stable yet). Throws the agent's error. */
  async rename(title: string): Promise<void> {
    this.#checkAlive();
    const { agent, agentSessionId: sessionId } = this.#options;
    if (agent.capabilities.sessionCapabilities?.title !== true) return;
    const request = agent.request('session/set_title', { sessionId, title });
    await agent.within(settingLimitMs, request);
  }

  onUpdate(update: unknown): void {
    if (!this.#isAlive) return;
    if (this.#replay.takes(update)) return;
    const isExpected = this.#isOpen && !this.#turns.isStale;
    if (!isExpected && !isOfSession(update)) return;
    try {
      this.#settings.applyUpdate(update);
      this.#translator.read(update, now());
    } catch (error) {
      // A bug in Liminal's reading of one update must not end the session.
      process.emitWarning(asError(error));
    }
    this.#turns.onActivity();
  }

  get isBusy(): boolean {
    return this.#translator.turn !== undefined;
  }

  hasChild(sessionId: string): boolean {
    return this.#translator.hasChild(sessionId);
  }

  onChildUpdate(sessionId: string, update: unknown): void {
    // A replay has only the session's own conversation, not its subagents'.
    if (!this.#isAlive || !this.#isOpen || this.#turns.isStale) return;
    try {
      this.#translator.readChild(sessionId, update, now());
    } catch (error) {
      process.emitWarning(asError(error));
    }
    this.#turns.onActivity();
  }

  takeSteered(): SteeredMessages {
    return this.#turns.takeSteered();
  }

  onGone(reason: Error): void {
    if (!this.#isAlive) return;
    const code = reason instanceof ProtocolBreach ? reason.code : 'PROCESS_CRASH';
    const message = this.#gone(reason).message;
    this.#end({ type: 'response_error', error: { code, message } });
    this.#ended = this.#leave();
    this.#options.output.exit({ expected: false, code, message });
  }

  async #readReplay(): Promise<StoredTurn[]> {
    const replayed = await this.#replay.take();
    if (replayed.length === 0) return [];
    const { cliType, agent, agentSessionId, projectDir } = this.#options;
    // A replay has no times; the session's last change is closer to the truth than the current time.
    const timestamp = (await storedMark(agent, agentSessionId, projectDir)) ?? now();
    const updates = replayed.map((update) => ({ update, timestamp }));
    return readReplay(updates, { cliType, agentSessionId });
  }

  #applyAnswer(answer: unknown): void {
    this.#settings.applyAnswer(answer);
    this.#translator.settings(this.#settings.raw);
  }

  #report(update: SessionUpdate): void {
    this.#configOptions = update.configOptions ?? this.#configOptions;
    if (this.#heldUpdate === undefined) this.#options.output.update(update);
    else this.#heldUpdate = { ...this.#heldUpdate, ...update };
  }

  #checkAlive(): void {
    if (!this.#isAlive) {
      const { agent, name } = this.#options;
      throw errors.PROCESS_CRASH.because(agent.explain(`${name} is not running.`));
    }
  }

  #onSilent(): void {
    const { name, agent } = this.#options;
    this.onGone(new Error(`${name} did not stop when it was asked to.`));
    void agent.end();
  }

  #end(end: TurnEnd): void {
    this.#isAlive = false;
    this.#replay.end();
    this.#turns.end(end);
  }

  async #leave(): Promise<void> {
    const { agent, agentSessionId, pool } = this.#options;
    const [isWarned] = await Promise.all([agent.leave(agentSessionId), this.client.end()]);
    await pool.release(agent, isWarned);
  }

  #gone(cause: Error): ProviderError {
    const { agent, name } = this.#options;
    return errors.PROCESS_CRASH.ended(name, agent.explain(cause), { cause });
  }
}

/** The types of updates about the session as a whole rather than a turn. */
const ofSession = new Set<unknown>([
  'available_commands_update',
  'config_option_update',
  'current_mode_update',
  'session_info_update',
  'usage_update',
]);

const isOfSession = (update: unknown): boolean =>
  isRecord(update) && ofSession.has(update['sessionUpdate']);
