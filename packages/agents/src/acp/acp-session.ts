import { randomUUID } from 'node:crypto';
import type { ApprovalAnswer, ConfigOption, EventDraft } from '@liminal/protocol';
import { isoNow as now } from '../base/iso-clock.ts';
import { ProviderError } from '../errors.ts';
import type { SessionExit, SessionUpdate } from '../provider.ts';
import type { AcpAgent, AgentSession } from './acp-agent.ts';
import { AcpSettings } from './acp-settings.ts';
import { AcpTurns } from './acp-turns.ts';
import { childEnvironment } from './child-environment.ts';
import { SessionClient } from './client-side/session-client.ts';
import { authSentence, describeError } from './errors.ts';
import { ProtocolBreach } from '../base/protocol-breach.ts';
import { type Opened, Replay } from './replay.ts';
import type { RememberedSession } from './remembered-session.ts';
import { isOfSession } from './session-news.ts';
import type { Terminal } from './translate/outcome.ts';
import type { AcpQuirks } from './translate/quirks.ts';
import { AcpTranslator } from './translate/translator.ts';

export interface AcpSessionOptions {
  cliType: string;
  /** The agent's name, for people. */
  name: string;
  agent: AcpAgent;
  agentSessionId: string;
  projectDir: string;
  env: Record<string, string>;
  inherited: NodeJS.ProcessEnv;
  quirks: AcpQuirks;
  cancelLimitMs: number;
  ownTurnIdleMs: number;
  emit: (draft: EventDraft) => void;
  update: (update: SessionUpdate) => void;
  exit: (exit: SessionExit) => void;
  /** The session has left its agent. `isWarned`: the agent has closed it. */
  release: (agent: AcpAgent, isWarned: boolean) => Promise<void>;
}

/** For an agent to change a setting, ms. */
const settingLimitMs = 30_000;

/** A session of an ACP agent, over all of its turns. */
export class AcpSession implements AgentSession {
  readonly options: AcpSessionOptions;
  readonly client: SessionClient;
  readonly #translator: AcpTranslator;
  readonly #turns: AcpTurns;
  readonly #settings = new AcpSettings();
  #configOptions: readonly ConfigOption[] = [];
  #isAlive = true;
  /** Before that, what the agent says of turns is what it said in earlier ones, which we have. */
  #isOpen = false;
  readonly #replay = new Replay();
  /** What is to be told once somebody may listen. */
  #news: SessionUpdate | undefined;
  /** What people are told in the next turn. */
  #notices: string[] = [];
  #isStored = false;
  #ended: Promise<void> = Promise.resolve();
  /** What the agent had started when the turn began; nothing is known of that where it stops its commands itself. */
  #before: ReadonlySet<string> | undefined;

  constructor(options: AcpSessionOptions) {
    this.options = options;
    const { agent, agentSessionId: sessionId, projectDir, env, inherited } = options;
    this.#news = { agentSessionId: sessionId };
    this.#translator = new AcpTranslator({
      cliType: options.cliType,
      quirks: options.quirks,
      createTurnId: () => randomUUID(),
      emit: options.emit,
      update: (update) => this.#tell(update),
    });
    this.client = new SessionClient({
      projectDir,
      env: (own, mark) => childEnvironment(inherited, { ...env, ...own }, mark),
      watcher: {
        terminalOutput: (id, text) => this.#translator.terminalOutput(id, text, now()),
        terminalExit: (id, exit) => this.#translator.terminalExit(id, exit, now()),
      },
      desk: {
        open: (request) => {
          this.#translator.openApproval(request, now());
          this.#turns.heard();
        },
        close: (id, outcome) => this.#translator.closeApproval(id, outcome, now()),
      },
      showCall: (call) => this.#translator.toolCall(call, now()),
      canAsk: () => this.#isOpen && !this.#turns.isStale,
    });
    this.#turns = new AcpTurns({
      ...options,
      translator: this.#translator,
      prompt: (text) => this.#prompt(text),
      cancel: () => agent.notify('session/cancel', { sessionId }),
      onEnd: () => this.client.cancelQuestions('turn_ended'),
      onStopped: () => void this.#endCommands(),
      isAsking: () => this.client.isAsking,
      onSilent: () => this.#onSilent(),
      signIn: (answer) => authSentence(options.name, agent.authMethods, answer),
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get remembered(): RememberedSession {
    const { projectDir, agentSessionId } = this.options;
    const { config } = this;
    return { projectDir, agentSessionId, config, isStored: this.#isStored, untold: this.#notices };
  }

  get configOptions(): readonly ConfigOption[] {
    return this.#configOptions;
  }

  /** The settings by id, as they stand. */
  get config(): Record<string, string> {
    return Object.fromEntries(
      this.#configOptions.map(({ id, currentValue }) => [id, currentValue]),
    );
  }

  /** Takes what the agent answered when it opened the session. From now on it is heard. */
  open(answer: unknown, opened: Opened, notices: readonly string[]): void {
    this.#isOpen = true;
    this.#isStored = opened.how !== 'begun';
    this.#replay.answered(opened);
    this.#learn(answer);
    this.#notices = [...notices];
  }

  /** What the agent has replayed of earlier turns as it opened the session, once. */
  async replayed(): Promise<unknown[]> {
    return this.#replay.take();
  }

  /** Says what people should know as long as the session runs. */
  warn(texts: readonly string[]): void {
    this.#tell({ notices: texts.map((text) => ({ level: 'warning', text })) });
  }

  /** Tells the news: whoever started the session has then had the chance to listen. */
  announce(): void {
    setImmediate(() => {
      const news = this.#news;
      this.#news = undefined;
      if (this.#isAlive && news !== undefined) this.options.update(news);
    });
  }

  /** Hands over a user message; resolves when its turn has begun. `PROCESS_CRASH`, `TURN_IN_PROGRESS`. */
  async send(text: string, turnId: string): Promise<void> {
    this.#checkAlive();
    // Else the answer and the replay would be told together.
    await this.#replay.over;
    await this.#turns.send(text, turnId, () => this.#checkAlive());
    this.#isStored = true;
    for (const title of this.#notices.splice(0)) {
      this.#translator.read({ sessionUpdate: 'notice', severity: 'warning', title }, now());
    }
  }

  cancel(): void {
    if (this.#isAlive) this.#turns.cancel();
  }

  /** Ends it and all it has started; a running turn ends as cancelled first. */
  async kill(): Promise<void> {
    if (this.#isAlive) {
      const { agent, agentSessionId: sessionId } = this.options;
      const isBusy = this.#translator.turn !== undefined;
      this.#end({ type: 'response_done', status: 'cancelled', finishReason: 'killed' });
      if (isBusy) agent.notify('session/cancel', { sessionId });
      this.#ended = this.#leave();
      this.options.exit({ expected: true });
    }
    await this.#ended;
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answerApproval(approvalId: string, answer: ApprovalAnswer): void {
    this.client.answer(approvalId, answer);
  }

  /** Throws ProviderError `INVALID_OPTION` or `PROCESS_CRASH`. */
  async setConfigOption(id: string, value: string): Promise<void> {
    this.#checkAlive();
    const { agent, agentSessionId: sessionId, name } = this.options;
    const { method, params, known } = this.#settings.change(this.#configOptions, id, value);
    try {
      const request = agent.request(method, { sessionId, ...params });
      const answer = await agent.within(settingLimitMs, request);
      this.#learn(known);
      this.#learn(answer);
    } catch (error) {
      this.#checkAlive();
      const message = `${name} did not set “${id}” to “${value}”. ${describeError(error)}`;
      throw new ProviderError('INVALID_OPTION', message, { cause: error });
    }
  }

  onUpdate(update: unknown): void {
    if (!this.#isAlive) return;
    if (this.#replay.takes(update)) return;
    const isExpected = this.#isOpen && !this.#turns.isStale;
    if (!isExpected && !isOfSession(update)) return;
    try {
      this.#settings.hear(update);
      this.#translator.read(update, now());
    } catch (error) {
      // A fault of ours in one update is no reason to lose the session.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
    this.#turns.heard();
  }

  onGone(reason: Error): void {
    if (!this.#isAlive) return;
    const code = reason instanceof ProtocolBreach ? reason.code : 'PROCESS_CRASH';
    const message = this.#gone(reason).message;
    this.#end({ type: 'response_error', error: { code, message } });
    this.#ended = this.#leave();
    this.options.exit({ expected: false, code, message });
  }

  async #prompt(text: string): Promise<unknown> {
    const { agent, agentSessionId: sessionId, quirks } = this.options;
    // What it said in an earlier turn does not explain the end of this one.
    agent.forgetOutput();
    try {
      const answer = agent.request('session/prompt', {
        sessionId,
        prompt: [{ type: 'text', text }],
      });
      this.#before = undefined;
      // While the agent asks its model.
      if (quirks.leavesCommandsRunning === true) setImmediate(() => this.#look());
      return await answer;
    } catch (error) {
      if (quirks.failsBeforeTurnEnds === true) agent.notify('session/cancel', { sessionId });
      throw error;
    }
  }

  /** Of a turn that was stopped, where the agent does not do it. */
  async #endCommands(): Promise<void> {
    const before = this.#before;
    if (before !== undefined && this.#isAlive) await this.options.agent.endNewChildren(before);
  }

  #look(): void {
    if (this.#isAlive) this.#before = this.options.agent.children();
  }

  #learn(answer: unknown): void {
    this.#settings.learn(answer);
    this.#translator.settings(this.#settings.raw);
  }

  #tell(update: SessionUpdate): void {
    this.#configOptions = update.configOptions ?? this.#configOptions;
    if (this.#news === undefined) this.options.update(update);
    else this.#news = { ...this.#news, ...update };
  }

  #checkAlive(): void {
    if (!this.#isAlive) throw this.#gone(new Error('It is no longer running.'));
  }

  #onSilent(): void {
    const { name, agent } = this.options;
    this.onGone(new Error(`${name} did not stop when it was asked to.`));
    void agent.end();
  }

  #end(terminal: Terminal): void {
    this.#isAlive = false;
    this.#replay.end();
    this.#turns.end(terminal);
  }

  async #leave(): Promise<void> {
    const { agent, agentSessionId, release } = this.options;
    const [isWarned] = await Promise.all([agent.leave(agentSessionId), this.client.end()]);
    await release(agent, isWarned);
  }

  #gone(cause: Error): ProviderError {
    const message = `${this.options.name} has ended. ${this.options.agent.explain(cause)}`;
    return new ProviderError('PROCESS_CRASH', message, { cause });
  }
}
