import {
  type AgentDriver,
  type AgentSession,
  agentErrors,
  ProviderError,
  type SessionOpening,
  type SessionOutput,
} from '@liminal/agents';
import { type EventPayload, steeredItemId } from '@liminal/protocol';

const about = { cliType: 'scripted', name: 'Scripted' };

/** An agent that a test controls. It records the calls of its methods. */
export class ScriptedProvider implements AgentDriver {
  readonly cliType = about.cliType;
  readonly name = about.name;
  readonly managesMcp = true;
  readonly takesDirectories = true;
  readonly tellsSetup = true;
  readonly answersAside = true;
  /** The calls in order, each in the form `method sessionId`. */
  readonly calls: string[] = [];
  readonly #sessions = new Map<string, AgentSession>();
  readonly #outputs = new Map<string, SessionOutput>();
  readonly #turns = new Map<string, string>();

  isTaskOutput(id: string, path: string) {
    return path.endsWith(`/${id}/tasks/x.output`);
  }

  async describe() {
    return { ...about, description: 'Says what a test tells it to.', available: true };
  }

  isAlive(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.isAlive ?? false;
  }

  async cancel(sessionId: string): Promise<void> {
    this.calls.push(`cancelTurn ${sessionId}`);
    this.end(sessionId, 'cancelled');
  }

  async open(opening: SessionOpening): Promise<AgentSession> {
    const session = this.#session(opening);
    this.#sessions.set(opening.sessionId, session);
    return session;
  }

  #session({ sessionId, earlier, output }: SessionOpening): AgentSession {
    this.calls.push(`${earlier ? 'loadSession' : 'createSession'} ${sessionId}`);
    this.#outputs.set(sessionId, output);
    let isAlive = true;
    return {
      get isAlive() {
        return isAlive;
      },
      send: async (message, turnId) => {
        this.calls.push(`sendMessage ${sessionId}`);
        if (!isAlive) throw new ProviderError('PROCESS_CRASH', 'The agent is dead.');
        this.#begin(sessionId, message, turnId);
      },
      steer: async (message, { turnId, messageId }) => {
        if (this.#turns.get(sessionId) !== turnId) throw agentErrors.NOTHING_TO_STEER.noTurn();
        const told = { origin: 'user', delivery: 'sent', initialContent: message } as const;
        const itemId = steeredItemId(turnId, messageId);
        this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message', ...told });
      },
      cancel: async () => this.cancel(sessionId),
      close: async () => {
        this.calls.push(`killSession ${sessionId}`);
        this.end(sessionId, 'cancelled');
        if (!isAlive) return;
        isAlive = false;
        output.exit({ expected: true });
      },
      setDirectories: async (folders) => {
        this.calls.push(`setDirectories ${sessionId} ${folders.join()}`);
        return true;
      },
      background: async (callId) => {
        this.calls.push(`background ${sessionId} ${callId ?? 'all'}`);
        if (callId === 'done') throw new ProviderError('TASK_NOT_FOUND', 'It has ended.');
      },
      stopTask: async (taskId) => {
        this.calls.push(`stopTask ${sessionId} ${taskId}`);
        if (taskId !== 'dev')
          throw new ProviderError('TASK_NOT_FOUND', 'Nothing of that name runs.');
      },
      aside: async (question) => `Re: ${question}`,
      setup: async () => ({
        facts: [{ name: 'Version', value: '1.2.3' }],
        parts: [{ kind: 'hooks', entries: [{ name: 'Stop', detail: 'true' }] }],
      }),
      listMcpServers: async () => [
        { name: 'mail', state: 'signed-out', actions: ['sign-in', 'off'] },
      ],
      changeMcpServer: async (name, action) => {
        this.calls.push(`changeMcpServer ${sessionId} ${name} ${action}`);
        return action === 'sign-in' ? { url: 'https://mail.example/sign-in' } : {};
      },
      answerApproval: async (approvalId, answer) => {
        this.calls.push(`answerApproval ${sessionId} ${approvalId} ${JSON.stringify(answer)}`);
      },
    };
  }

  #begin(sessionId: string, message: string, turnId: string) {
    this.#turns.set(sessionId, turnId);
    this.emit(sessionId, { type: 'response_start', modelId: 'model', providerId: 'scripted' });
    const itemId = `${turnId}-user`;
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    const finalItem = { id: itemId, type: 'message', origin: 'user', content: message } as const;
    this.emit(sessionId, { type: 'item_done', itemId, finalItem });
  }

  /** Emits an event of the session's running turn. */
  emit(sessionId: string, payload: EventPayload) {
    const turnId = this.#turns.get(sessionId);
    if (turnId === undefined) throw new Error(`No turn runs in session ${sessionId}.`);
    this.#outputs.get(sessionId)?.emit({ turnId, timestamp: new Date().toISOString(), payload });
  }

  /** Begins a message of the agent. `more` adds text to the message, and `done` ends the message. */
  message(sessionId: string, itemId = 'm') {
    let content = '';
    this.emit(sessionId, { type: 'item_start', itemId, itemType: 'message', origin: 'agent' });
    return {
      more: (deltaContent: string) => {
        content += deltaContent;
        this.emit(sessionId, { type: 'item_delta', itemId, deltaContent });
      },
      done: () => {
        const finalItem = { id: itemId, type: 'message', origin: 'agent', content } as const;
        this.emit(sessionId, { type: 'item_done', itemId, finalItem });
      },
    };
  }

  /** Ends the session's turn, if a turn runs. */
  end(sessionId: string, status: 'completed' | 'cancelled' = 'completed') {
    if (!this.#turns.has(sessionId)) return;
    this.emit(sessionId, { type: 'response_done', status, finishReason: null });
    this.#turns.delete(sessionId);
  }
}
