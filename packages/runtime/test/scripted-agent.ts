import { existsSync } from 'node:fs';
import type {
  CliProvider,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
  StoredSession,
  StoredTurn,
} from '@liminal/agents';
import { ProviderError, ProviderListeners } from '@liminal/agents';
import type { AgentInfo, ApprovalAnswer, EventPayload } from '@liminal/protocol';

/** What a test can make go wrong, since no real agent does so on cue. */
export class ScriptedAgent implements CliProvider {
  readonly cliType = 'scripted';
  readonly listeners = new ProviderListeners();
  readonly alive = new Set<string>();
  readonly loads: string[] = [];
  /** Of each load, whether something had been said in the session before. */
  readonly histories: (boolean | undefined)[] = [];
  readonly answers: ApprovalAnswer[] = [];
  readonly cancels: string[] = [];
  readonly received: string[] = [];
  stored: StoredSession[] = [];
  storedTurns: StoredTurn[] = [];
  /** Of what is stored; while there is none, nothing is looked for there. */
  mark: string | undefined;
  /** What the next `sendMessage` does instead of taking the message. */
  refuse: ProviderError | undefined;
  /** Holds `sendMessage` back until it resolves. */
  hold: Promise<void> = Promise.resolve();
  readonly #turns = new Map<string, string>();

  async createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    if (!existsSync(options.projectDir))
      throw new ProviderError('SESSION_CREATE_FAILED', 'No folder.');
    const sessionId = options.sessionId ?? 'made-here';
    this.alive.add(sessionId);
    return { sessionId, cliType: this.cliType };
  }

  async loadSession(sessionId: string, options?: LoadSessionOptions): Promise<ProviderSession> {
    this.loads.push(sessionId);
    this.histories.push(await options?.hasHistory?.());
    this.alive.add(sessionId);
    return { sessionId, cliType: this.cliType };
  }

  async sendMessage(
    sessionId: string,
    message: string,
    options: { turnId?: string } = {},
  ): Promise<SendMessageResult> {
    const refusal = this.refuse;
    this.refuse = undefined;
    if (refusal) throw refusal;
    if (!this.alive.has(sessionId))
      throw new ProviderError('PROCESS_CRASH', 'The process is gone.');
    await this.hold;
    const turnId = options.turnId ?? 'made-here';
    this.received.push(message);
    this.#turns.set(sessionId, turnId);
    this.say(sessionId, { type: 'response_start', modelId: 'model-1', providerId: this.cliType });
    const itemId = `${turnId}-user`;
    this.say(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    this.say(sessionId, {
      type: 'item_done',
      itemId,
      finalItem: { type: 'message', id: itemId, content: message, origin: 'user' },
    });
    return { turnId };
  }

  say(sessionId: string, payload: EventPayload, turnId = this.#turns.get(sessionId)): void {
    if (turnId === undefined) throw new Error('No turn has begun in this session.');
    this.#turns.set(sessionId, turnId);
    this.listeners.emit(sessionId, { turnId, timestamp: new Date().toISOString(), payload });
  }

  text(sessionId: string, itemId: string, ...chunks: string[]): void {
    this.say(sessionId, { type: 'item_start', itemId, itemType: 'message' });
    for (const deltaContent of chunks) {
      this.say(sessionId, { type: 'item_delta', itemId, deltaContent });
    }
  }

  /** A tool is called, and answers. */
  call(sessionId: string, itemId: string): void {
    const called = { name: 'Read', callId: `${itemId}-call` };
    this.say(sessionId, { type: 'item_start', itemId, itemType: 'function_call', ...called });
    this.say(sessionId, {
      type: 'item_done',
      itemId,
      finalItem: { type: 'function_call', id: itemId, ...called, arguments: '{}', origin: 'agent' },
    });
    const id = `${itemId}-answer`;
    this.say(sessionId, {
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
    this.say(sessionId, { type: 'response_done', status: 'completed', finishReason: 'end_turn' });
  }

  /** The process dies without a word. */
  crash(sessionId: string): void {
    this.alive.delete(sessionId);
    this.listeners.exit(sessionId, {
      expected: false,
      code: 'PROCESS_CRASH',
      message: 'The agent was ended by SIGKILL.',
    });
  }

  async cancelTurn(sessionId: string): Promise<void> {
    this.cancels.push(sessionId);
    this.say(sessionId, { type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
    this.say(sessionId, { type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
  }

  async killSession(sessionId: string): Promise<void> {
    if (this.alive.delete(sessionId)) this.listeners.exit(sessionId, { expected: true });
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    this.answers.push(answer);
    this.say(sessionId, {
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

  ask(sessionId: string, approvalId: string): void {
    this.say(sessionId, {
      type: 'item_start',
      itemId: approvalId,
      itemType: 'approval',
      approvalId,
      title: 'Run it?',
      options: approvalOptions,
    });
  }

  isAlive = (sessionId: string): boolean => this.alive.has(sessionId);
  onEvent: CliProvider['onEvent'] = (id, callback) => this.listeners.onEvent(id, callback);
  onUpsert: CliProvider['onUpsert'] = (id, callback) => this.listeners.onUpsert(id, callback);
  onTurn: CliProvider['onTurn'] = (id, callback) => this.listeners.onTurn(id, callback);
  onUpdate: CliProvider['onUpdate'] = (id, callback) => this.listeners.onUpdate(id, callback);
  onExit: CliProvider['onExit'] = (id, callback) => this.listeners.onExit(id, callback);

  async describe(): Promise<AgentInfo> {
    return {
      cliType: this.cliType,
      name: 'Scripted',
      description: 'Does as it is told.',
      available: true,
    };
  }

  async listStoredSessions(): Promise<StoredSession[]> {
    return this.stored;
  }

  async storedMark(): Promise<string | undefined> {
    return this.mark;
  }

  async readStoredHistory(): Promise<StoredTurn[]> {
    return this.storedTurns;
  }

  async close(): Promise<void> {
    this.alive.clear();
  }
}

const approvalOptions = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' as const },
];
