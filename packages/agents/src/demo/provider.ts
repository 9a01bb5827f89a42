import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { AgentInfo, ApprovalAnswer } from '@liminal/protocol';
import { ProviderListeners } from '../base/listeners.ts';
import { ProviderError } from '../errors.ts';
import type {
  CliProvider,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
} from '../provider.ts';
import { chooseScene, scenes } from './choose-scene.ts';
import { paceOption, readPace, speedOf, type Pace } from './pace.ts';
import { Turn } from './turn.ts';

const cliType = 'demo';

export interface DemoOptions {
  /** How many times faster than recorded; 1 without it. A session's own pace multiplies it. */
  speed?: number;
}

interface Session {
  pace: Pace;
  /** Messages so far. */
  turns: number;
  turn?: Turn;
}

/**
 * Recorded turns, played at their own pace: what Liminal looks like without a key, a network or an agent. It starts no
 * process, and neither reads nor changes a file. It remembers nothing: any session can be loaded.
 */
export class DemoProvider implements CliProvider {
  readonly cliType = cliType;
  readonly #listeners = new ProviderListeners();
  readonly #sessions = new Map<string, Session>();
  readonly #speed: number;

  constructor(options: DemoOptions = {}) {
    this.#speed = options.speed ?? 1;
  }

  async createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    const { projectDir, sessionId = randomUUID(), config } = options;
    const folder = await stat(projectDir).catch(() => undefined);
    if (!folder?.isDirectory()) {
      const message = `There is no folder ${projectDir}. Choose an existing one.`;
      throw new ProviderError('SESSION_CREATE_FAILED', message);
    }
    return this.#open(sessionId, 0, config);
  }

  async loadSession(sessionId: string, options?: LoadSessionOptions): Promise<ProviderSession> {
    if (this.isAlive(sessionId)) return { sessionId, cliType };
    return this.#open(sessionId, 1, options?.config);
  }

  async sendMessage(
    sessionId: string,
    message: string,
    { turnId = randomUUID() }: { turnId?: string } = {},
  ): Promise<SendMessageResult> {
    const session = this.#session(sessionId);
    if (session.turn && !session.turn.ended) {
      const what = 'This session has a turn under way. Wait for its end, or cancel it.';
      throw new ProviderError('TURN_IN_PROGRESS', what);
    }
    session.turn = new Turn({
      sessionId,
      turnId,
      message,
      scene: chooseScene(message, session.turns++),
      emit: (draft) => this.#listeners.emit(sessionId, draft),
      speed: () => this.#speed * speedOf(session.pace),
    });
    return { turnId };
  }

  async cancelTurn(sessionId: string): Promise<void> {
    this.#sessions.get(sessionId)?.turn?.cancel('The user stopped the turn.');
  }

  async killSession(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    session.turn?.cancel('The session was ended.');
    this.#sessions.delete(sessionId);
    this.#listeners.exit(sessionId, { expected: true });
  }

  isAlive(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    const { turn } = this.#session(sessionId);
    if (!turn) throw new ProviderError('APPROVAL_NOT_FOUND', 'This session has asked for nothing.');
    turn.answer(approvalId, answer);
  }

  async setConfigOption(sessionId: string, id: string, value: string): Promise<void> {
    const session = this.#session(sessionId);
    session.pace = readPace(id, value);
    this.#listeners.update(sessionId, { configOptions: [paceOption(session.pace)] });
  }

  async describe(): Promise<AgentInfo> {
    return {
      cliType,
      name: 'Demo',
      description: 'Recorded turns to try Liminal with: no key, no network, no change to any file.',
      available: true,
      demo: true,
    };
  }

  async close(): Promise<void> {
    for (const sessionId of this.#sessions.keys()) await this.killSession(sessionId);
    this.#listeners.close();
  }

  onEvent: CliProvider['onEvent'] = (id, callback) => this.#listeners.onEvent(id, callback);
  onUpsert: CliProvider['onUpsert'] = (id, callback) => this.#listeners.onUpsert(id, callback);
  onTurn: CliProvider['onTurn'] = (id, callback) => this.#listeners.onTurn(id, callback);
  onUpdate: CliProvider['onUpdate'] = (id, callback) => this.#listeners.onUpdate(id, callback);
  onExit: CliProvider['onExit'] = (id, callback) => this.#listeners.onExit(id, callback);

  #open(sessionId: string, turns: number, config: Record<string, string> = {}): ProviderSession {
    const session: Session = { pace: 'normal', turns };
    for (const [id, value] of Object.entries(config)) session.pace = readPace(id, value);
    this.#sessions.set(sessionId, session);
    this.#listeners.update(sessionId, {
      configOptions: [paceOption(session.pace)],
      commands: scenes.map(({ name, description }) => ({ name, description })),
    });
    return { sessionId, cliType };
  }

  #session(sessionId: string): Session {
    const session = this.#sessions.get(sessionId);
    if (session) return session;
    const message = `No session ${sessionId} runs here. Load it first.`;
    throw new ProviderError('SESSION_NOT_FOUND', message);
  }
}
