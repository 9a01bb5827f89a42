import { randomUUID } from 'node:crypto';
import {
  type CliProvider,
  type CreateSessionOptions,
  ProviderError,
  ProviderListeners,
} from '@liminal/agents';
import type { AgentInfo, ApprovalAnswer, EventPayload } from '@liminal/protocol';

/** An agent that says what a test tells it to, when the test tells it to, and remembers what was asked of it. */
export class ScriptedProvider implements CliProvider {
  readonly cliType = 'scripted';
  /** `method sessionId`, in order. */
  readonly calls: string[] = [];
  readonly #listeners = new ProviderListeners();
  readonly #alive = new Set<string>();
  readonly #turns = new Map<string, string>();

  readonly onEvent: CliProvider['onEvent'] = (...args) => this.#listeners.onEvent(...args);
  readonly onUpsert: CliProvider['onUpsert'] = (...args) => this.#listeners.onUpsert(...args);
  readonly onTurn: CliProvider['onTurn'] = (...args) => this.#listeners.onTurn(...args);
  readonly onUpdate: CliProvider['onUpdate'] = (...args) => this.#listeners.onUpdate(...args);
  readonly onExit: CliProvider['onExit'] = (...args) => this.#listeners.onExit(...args);

  async createSession({ sessionId = randomUUID() }: CreateSessionOptions) {
    return this.#start('createSession', sessionId);
  }

  async loadSession(sessionId: string) {
    return this.#start('loadSession', sessionId);
  }

  async sendMessage(sessionId: string, message: string, { turnId = randomUUID() } = {}) {
    this.calls.push(`sendMessage ${sessionId}`);
    if (!this.#alive.has(sessionId)) throw new ProviderError('PROCESS_CRASH', 'The agent is dead.');
    this.#turns.set(sessionId, turnId);
    this.say(sessionId, { type: 'response_start', modelId: 'model', providerId: 'scripted' });
    const itemId = `${turnId}-user`;
    this.say(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    const finalItem = { id: itemId, type: 'message', origin: 'user', content: message } as const;
    this.say(sessionId, { type: 'item_done', itemId, finalItem });
    return { turnId };
  }

  async cancelTurn(sessionId: string) {
    this.calls.push(`cancelTurn ${sessionId}`);
    this.end(sessionId, 'cancelled');
  }

  async killSession(sessionId: string) {
    this.calls.push(`killSession ${sessionId}`);
    this.end(sessionId, 'cancelled');
    if (this.#alive.delete(sessionId)) this.#listeners.exit(sessionId, { expected: true });
  }

  async answerApproval(sessionId: string, approvalId: string, answer: ApprovalAnswer) {
    this.calls.push(`answerApproval ${sessionId} ${approvalId} ${JSON.stringify(answer)}`);
  }

  isAlive(sessionId: string) {
    return this.#alive.has(sessionId);
  }

  async describe(): Promise<AgentInfo> {
    const description = 'Says what a test tells it to.';
    return { cliType: this.cliType, name: 'Scripted', description, available: true };
  }

  async close() {
    this.#listeners.close();
  }

  /** Says something in the session's running turn. */
  say(sessionId: string, payload: EventPayload) {
    const turnId = this.#turns.get(sessionId);
    if (turnId === undefined) throw new Error(`No turn runs in session ${sessionId}.`);
    this.#listeners.emit(sessionId, { turnId, timestamp: new Date().toISOString(), payload });
  }

  /** Begins a message; `more` adds text to it, and `done` finishes it. */
  message(sessionId: string, itemId = 'm') {
    let content = '';
    this.say(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'agent' });
    return {
      more: (deltaContent: string) => {
        content += deltaContent;
        this.say(sessionId, { type: 'item_delta', itemId, deltaContent });
      },
      done: () => {
        const finalItem = { id: itemId, type: 'message', origin: 'agent', content } as const;
        this.say(sessionId, { type: 'item_done', itemId, finalItem });
      },
    };
  }

  /** Ends the session's turn, if one runs. */
  end(sessionId: string, status: 'completed' | 'cancelled' = 'completed') {
    if (!this.#turns.has(sessionId)) return;
    this.say(sessionId, { type: 'response_done', status, finishReason: null });
    this.#turns.delete(sessionId);
  }

  #start(call: string, sessionId: string) {
    this.calls.push(`${call} ${sessionId}`);
    this.#alive.add(sessionId);
    return { sessionId, cliType: this.cliType };
  }
}
