import type { AgentInfo } from '@liminal/protocol';
import type { CliProvider, ProviderSession, SendMessageResult } from '@liminal/agents';
import { ProviderListeners } from '@liminal/agents';
import { randomUUID } from 'node:crypto';
import { ClaudeTranslator } from '../../packages/agents/src/claude-code/translate/translator.ts';
import { isoNow } from '../../packages/agents/src/base/iso-clock.ts';
import { readSource } from './read-source.ts';

/** An agent whose process is the source: a message `COUNT RATE BLOCKS` says what it plays, through Claude Code's translator. */
export class SourceAgent implements CliProvider {
  readonly cliType = 'source';
  readonly #listeners = new ProviderListeners();
  readonly #sessions = new Set<string>();

  async createSession({
    sessionId = randomUUID(),
  }: {
    sessionId?: string;
  }): Promise<ProviderSession> {
    this.#sessions.add(sessionId);
    return { sessionId, cliType: this.cliType };
  }

  async loadSession(sessionId: string): Promise<ProviderSession> {
    return this.createSession({ sessionId });
  }

  async sendMessage(
    sessionId: string,
    message: string,
    { turnId = randomUUID() }: { turnId?: string } = {},
  ): Promise<SendMessageResult> {
    const [count = 0, rate = 0, blocks = 1] = message.split(' ').map(Number);
    const begun = Promise.withResolvers<void>();
    const translator = new ClaudeTranslator({
      cwd: '/',
      createTurnId: () => turnId,
      emit: (draft) => {
        this.#listeners.emit(sessionId, draft);
        if (draft.payload.type === 'response_start') begun.resolve();
      },
    });
    void readSource({ count, rate, blocks }, (native) => translator.read(native, isoNow()));
    await begun.promise;
    return { turnId };
  }

  async cancelTurn(): Promise<void> {}

  async killSession(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
  }

  isAlive = (sessionId: string): boolean => this.#sessions.has(sessionId);
  onEvent: CliProvider['onEvent'] = (id, callback) => this.#listeners.onEvent(id, callback);
  onUpsert: CliProvider['onUpsert'] = (id, callback) => this.#listeners.onUpsert(id, callback);
  onTurn: CliProvider['onTurn'] = (id, callback) => this.#listeners.onTurn(id, callback);
  onUpdate: CliProvider['onUpdate'] = (id, callback) => this.#listeners.onUpdate(id, callback);
  onExit: CliProvider['onExit'] = (id, callback) => this.#listeners.onExit(id, callback);

  async describe(): Promise<AgentInfo> {
    return { cliType: 'source', name: 'Source', description: 'Plays deltas.', available: true };
  }

  async close(): Promise<void> {
    this.#sessions.clear();
  }
}
