import type {
  AgentSession,
  ProjectSettings,
  AgentDriver,
  SessionOpening,
  SessionOutput,
  SessionUpdate,
  SteerTarget,
  StoredFork,
  StoredSession,
  StoredTurn,
} from '@liminal/agents';
import { agentErrors, ProviderError, SessionInUseError } from '@liminal/agents';
import {
  type ApprovalAnswer,
  type ApprovalOption,
  type ContentBlock,
  type EventPayload,
  type RewindResult,
  steeredItemId,
} from '@liminal/protocol';

const about = { cliType: 'scripted', name: 'Scripted' };

/** An agent that fails as a test requires, because no real agent fails on demand. */
export class ScriptedAgent implements AgentDriver {
  readonly cliType: string = about.cliType;
  readonly name = about.name;
  forksWhole = false;
  readonly alive = new Set<string>();
  readonly loads: string[] = [];
  /** For each load of a session, whether the session had an answer before that load. */
  readonly histories: (boolean | undefined)[] = [];
  /** The files that a rewind changes; an error is thrown only if it is not a dry run. */
  rewound: RewindResult | ProviderError = { files: [], insertions: 0, deletions: 0 };
  readonly rewinds: boolean = true;
  readonly rewindings: string[] = [];
  readonly rewindsConversation: boolean = true;
  /** The turns of each rewind of the conversation, and the error with which rewinds are rejected. */
  readonly takenBack: (readonly string[])[] = [];
  refuseRewind: ProviderError | undefined;
  /** A rewind of the conversation waits for this promise. */
  holdRewind: Promise<void> = Promise.resolve();
  readonly answers: ApprovalAnswer[] = [];
  /** The MCP servers with which each session was opened. */
  readonly mcpServers: SessionOpening['mcpServers'][] = [];
  readonly directories: (readonly string[])[] = [];
  readonly configs: Record<string, string>[] = [];
  readonly takesDirectories: boolean = true;
  /** Whether folders can be changed while the agent runs. */
  changesDirectories = true;
  readonly cancels: string[] = [];
  /** The tasks that were stopped; the only task is `a`. */
  readonly stopped: string[] = [];
  readonly received: string[] = [];
  /** Whether sessions that are opened from now on accept steered messages. */
  canSteer = true;
  readonly steered: string[] = [];
  /** The agent's own id of the running turn. */
  agentTurn: () => string | undefined = () => undefined;
  /** Runs before a steered message is accepted; if it throws, the message is rejected. */
  beforeSteer: () => Promise<void> = async () => {};
  /** The attachments of each received message. */
  readonly attached: (readonly ContentBlock[])[] = [];
  /** The settings in every project folder. */
  project: ProjectSettings | undefined;
  /** For each opening, the hash of the project's settings that it uses. */
  readonly projectsUsed: (string | undefined)[] = [];
  stored: StoredSession[] = [];
  storedTurns: StoredTurn[] = [];
  /** The result of a fork, and the turns after which forks were made. */
  forked: StoredFork = { copies: new Map(), left: new Set() };
  readonly forks: string[] = [];
  /** The store's mark; while undefined, the store is not read. */
  mark: string | undefined;
  /** The next `sendMessage` rejects with this error instead of accepting the message. */
  refuse: ProviderError | undefined;
  /** The titles that the open sessions were given. */
  readonly titles: string[] = [];
  /** For how many further openings the session counts as open in another program. */
  inUse = 0;
  /** `sendMessage` waits for this promise. */
  hold: Promise<void> = Promise.resolve();
  readonly #outputs = new Map<string, SessionOutput>();
  readonly #turns = new Map<string, string>();

  /** A test may replace it. */
  listStoredSessions: AgentDriver['listStoredSessions'] = async () => this.stored;
  /** A test may remove it. */
  fork: AgentDriver['fork'] = async (_, __, turnId) => {
    this.forks.push(turnId);
    return this.forked;
  };

  async describe() {
    return { ...about, description: 'Does as it is told.', available: true };
  }

  async readProjectSettings() {
    return this.project;
  }

  async storedMark() {
    return this.mark;
  }

  async readStoredHistory() {
    return this.storedTurns;
  }

  async close() {
    this.alive.clear();
  }

  isAlive(sessionId: string): boolean {
    return this.alive.has(sessionId);
  }

  async open(opening: SessionOpening): Promise<AgentSession> {
    const { sessionId, output, earlier, mcpServers, projectTrust: trust } = opening;
    const { project } = this;
    const used = project && (await trust?.uses(project)) === true ? project : undefined;
    trust?.started(project, used === project);
    this.projectsUsed.push(used?.hash);
    this.mcpServers.push(mcpServers);
    this.directories.push(opening.additionalDirectories ?? []);
    this.configs.push(opening.config ?? {});
    this.inUse -= 1;
    if (this.inUse >= 0) throw new SessionInUseError('A terminal has it open.');
    if (earlier) {
      this.loads.push(sessionId);
      this.histories.push(await earlier.hasAnswered?.());
    }
    this.alive.add(sessionId);
    this.#outputs.set(sessionId, output);
    const { alive } = this;
    const agentTurn = (): string | undefined => this.agentTurn();
    return {
      get isAlive() {
        return alive.has(sessionId);
      },
      get agentTurnId() {
        return agentTurn();
      },
      accepts: { image: ['image/*'], audio: [], resource: ['text/*'] },
      send: (message, turnId, blocks) => this.take(sessionId, message, turnId, blocks),
      ...(this.canSteer && {
        steer: (message: string, to: SteerTarget, blocks: readonly ContentBlock[]) =>
          this.#steer(sessionId, message, to, blocks),
      }),
      cancel: async () => this.cancel(sessionId),
      close: async () => this.end(sessionId),
      answerApproval: async (approvalId, answer) => this.#answer(sessionId, approvalId, answer),
      setDirectories: async (folders) => {
        if (this.changesDirectories) this.directories.push(folders);
        return this.changesDirectories;
      },
      rename: async (title) => {
        this.titles.push(title);
        if (title === '') throw new Error('A title needs a word.');
      },
      stopTask: async (taskId) => {
        if (taskId !== 'a')
          throw new ProviderError('TASK_NOT_FOUND', `Task ${taskId} does not exist.`);
        this.stopped.push(taskId);
      },
      rewindFiles: async (turnId, dryRun) => {
        this.rewindings.push(`${dryRun ? 'look at' : 'rewind'} ${turnId}`);
        const { rewound } = this;
        if (!(rewound instanceof ProviderError)) return rewound;
        if (!dryRun) throw rewound;
        return { files: ['/x'], insertions: 0, deletions: 0 };
      },
      rewindConversation: async ({ turnIds }) => {
        await this.holdRewind;
        if (this.refuseRewind) throw this.refuseRewind;
        this.takenBack.push(turnIds);
      },
    };
  }

  async take(
    sessionId: string,
    message: string,
    turnId: string,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    const refusal = this.refuse;
    this.refuse = undefined;
    if (refusal) throw refusal;
    if (!this.alive.has(sessionId))
      throw new ProviderError('PROCESS_CRASH', 'The process is gone.');
    await this.hold;
    this.received.push(message);
    this.attached.push(blocks);
    this.#turns.set(sessionId, turnId);
    this.emit(sessionId, { type: 'response_start', modelId: 'model-1', providerId: this.cliType });
    const itemId = `${turnId}-user`;
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    this.emit(sessionId, {
      type: 'item_done',
      itemId,
      finalItem: {
        type: 'message',
        id: itemId,
        content: message,
        origin: 'user',
        ...(blocks.length > 0 && { blocks: [...blocks] }),
      },
    });
  }

  async #steer(
    sessionId: string,
    content: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    await this.beforeSteer();
    if (this.#turns.get(sessionId) !== turnId) throw agentErrors.NOTHING_TO_STEER.noTurn();
    this.steered.push(content);
    const itemId = steeredItemId(turnId, messageId);
    const told = { origin: 'user', delivery: 'sent', initialContent: content } as const;
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message', ...told });
    const patch = { blocks: [...blocks] };
    this.emit(sessionId, { type: 'item_delta', itemId, deltaContent: '', patch });
  }

  /** The running turn, or the last one. */
  turnOf(sessionId: string): string {
    return this.#turns.get(sessionId) ?? '';
  }

  /** Marks a steered message as taken by the agent. */
  takeUp(sessionId: string, messageId: string, content: string): void {
    const id = steeredItemId(this.#turns.get(sessionId) ?? '', messageId);
    const item = { type: 'message', id, content, origin: 'user', delivery: 'taken' } as const;
    this.emit(sessionId, { type: 'item_done', itemId: id, finalItem: item });
  }

  /** Withdraws a steered message from its turn, which ends: the agent begins a turn for it later. */
  leaveOver(sessionId: string, messageId: string): void {
    const itemId = steeredItemId(this.#turns.get(sessionId) ?? '', messageId);
    this.emit(sessionId, { type: 'item_cancelled', itemId, reason: 'own_turn' });
    this.finish(sessionId);
  }

  /** Begins the turn of a message that was left over. */
  comeTo(sessionId: string, messageId: string, content: string): Promise<void> {
    return this.take(sessionId, content, messageId, []);
  }

  update(sessionId: string, update: SessionUpdate): void {
    this.#output(sessionId).update(update);
  }

  emit(sessionId: string, payload: EventPayload, turnId = this.#turns.get(sessionId)): void {
    if (turnId === undefined) throw new Error('No turn has begun in this session.');
    this.#turns.set(sessionId, turnId);
    this.#output(sessionId).emit({ turnId, timestamp: new Date().toISOString(), payload });
  }

  text(sessionId: string, itemId: string, ...chunks: string[]): void {
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message' });
    for (const deltaContent of chunks) {
      this.emit(sessionId, { type: 'item_delta', itemId, deltaContent });
    }
  }

  /** Emits a tool call with its result. */
  call(sessionId: string, itemId: string): void {
    const called = { name: 'Read', callId: `${itemId}-call` };
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'function_call', ...called });
    this.emit(sessionId, {
      type: 'item_done',
      itemId,
      finalItem: { type: 'function_call', id: itemId, ...called, arguments: '{}', origin: 'agent' },
    });
    const id = `${itemId}-answer`;
    this.emit(sessionId, {
      type: 'item_done',
      itemId: id,
      finalItem: {
        type: 'function_call_output',
        id,
        callId: called.callId,
        output: itemId,
        success: true,
        origin: 'system',
      },
    });
  }

  finish(sessionId: string): void {
    this.emit(sessionId, { type: 'response_done', status: 'completed', finishReason: 'end_turn' });
  }

  /** Ends the process as requested. */
  end(sessionId: string): void {
    if (this.alive.delete(sessionId)) this.#output(sessionId).exit({ expected: true });
  }

  /** Ends the process without an end of its turn. */
  crash(sessionId: string): void {
    this.alive.delete(sessionId);
    this.#output(sessionId).exit({
      expected: false,
      code: 'PROCESS_CRASH',
      message: 'The agent was ended by SIGKILL.',
    });
  }

  async cancel(sessionId: string): Promise<void> {
    this.cancels.push(sessionId);
    this.emit(sessionId, { type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
    this.emit(sessionId, { type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
  }

  #answer(sessionId: string, approvalId: string, answer: ApprovalAnswer): void {
    this.answers.push(answer);
    this.emit(sessionId, {
      type: 'item_done',
      itemId: approvalId,
      finalItem: {
        type: 'approval',
        id: approvalId,
        approvalId,
        title: 'Run it?',
        options: approvalOptions,
        outcome: { outcome: 'selected', ...answer },
      },
    });
  }

  ask(sessionId: string, approvalId: string, options: ApprovalOption[] = approvalOptions): void {
    this.emit(sessionId, {
      type: 'item_start',
      itemId: approvalId,
      itemType: 'approval',
      approvalId,
      title: 'Run it?',
      options,
    });
  }

  #output(sessionId: string): SessionOutput {
    const output = this.#outputs.get(sessionId);
    if (output === undefined) throw new Error(`There is no session ${sessionId}.`);
    return output;
  }
}

const approvalOptions = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' as const },
];
