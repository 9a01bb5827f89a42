/** A session in this process: plays its prompts one after the other, and records them for a later replay. */
import type { Call } from './call.ts';
import { readAgain } from './history.ts';
import type { Player } from './player.ts';
import { RunningTurn } from './running-turn.ts';
import type { AgentScript, StoredSession, Turn } from '../script.ts';
import type { Settings } from './settings.ts';
import type { StoredSessions } from './stored-sessions.ts';
import type { AgentOutput } from './wire.ts';

/** The objects of the agent that all sessions share. */
export interface Stage {
  script: AgentScript;
  player: Player;
  voice: AgentOutput;
  stored: StoredSessions;
}

const invalidRequest = -32600;

export class LiveSession {
  /** The session's current modes, config options and further fields from the script. */
  readonly settings: Settings;
  readonly #stage: Stage;
  readonly #session: StoredSession;
  readonly #updates: Record<string, unknown>[];
  readonly #running = new Set<RunningTurn>();
  readonly #queue: (() => Promise<void>)[] = [];

  constructor(stage: Stage, session: StoredSession) {
    this.#stage = stage;
    this.#session = session;
    this.#updates = [...(session.updates ?? [])];
    this.settings = structuredClone(stage.script.session ?? {});
  }

  get cwd(): string {
    return this.#session.cwd;
  }

  /** Starts the turn of a prompt. Resolves when the turn has ended, or when the prompt has been queued. */
  async prompt(call: Call, prompt: unknown): Promise<void> {
    if (this.#running.size === 0) return this.#turn(call, prompt);
    switch (this.#stage.script.secondPrompt ?? 'queue') {
      case 'queue':
        return void this.#queue.push(() => this.#turn(call, prompt));
      case 'concurrent':
        return this.#turn(call, prompt);
      case 'error':
        return call.error({ code: invalidRequest, message: 'A prompt is running already.' });
      case 'never':
        return;
    }
  }

  /** Handles `session/cancel`: cancels the running turn, but not the queued prompts. */
  cancel(): void {
    for (const running of this.#running) running.cancel(this.#stage.script.cancel);
  }

  /** Handles `$/cancel_request`, if the request to cancel is a running prompt. */
  cancelRequest(requestId: unknown): void {
    for (const running of this.#running) if (running.call.id === requestId) running.cancelRequest();
  }

  /** Handles `session/close`: cancels the running turn, even if the script contains another effect of cancelling. */
  close(): void {
    this.#queue.length = 0;
    for (const running of this.#running)
      running.stop(() => running.call.result({ stopReason: 'cancelled' }));
  }

  save(): void {
    this.#stage.stored.save({ ...this.#session, updates: readAgain(this.#updates) });
  }

  async #turn(call: Call, prompt: unknown): Promise<void> {
    const text = textOf(prompt);
    const running = new RunningTurn(this.#stage.player, this.#find(text), call);
    this.#running.add(running);
    call.beforeAnswer = () => this.save();
    this.#remember(prompt, text);
    const { sessionId, cwd } = this.#session;
    await running.play({
      sessionId,
      words: { sessionId, cwd, prompt: text, requestId: call.id },
      note: (update) => void this.#updates.push(update),
    });
    this.#running.delete(running);
    this.save();
    await this.#queue.shift()?.();
  }

  #find(text: string): Turn {
    const found = this.#stage.script.turns?.find(
      ({ when }) => when === undefined || text.includes(when),
    );
    return found ?? { steps: [{ say: `You said: ${text}` }] };
  }

  /** If the agent dies during the turn, the agent's own messages are lost, but the user's message is not. */
  #remember(prompt: unknown, text: string): void {
    this.#session.title ??= text.slice(0, 80);
    const blocks = Array.isArray(prompt) ? prompt : [];
    this.#updates.push(
      ...blocks.map((content) => ({ sessionUpdate: 'user_message_chunk', content })),
    );
    this.save();
  }
}

function textOf(prompt: unknown): string {
  if (!Array.isArray(prompt)) return '';
  return prompt
    .map(({ text }: { text?: unknown }) => (typeof text === 'string' ? text : ''))
    .join('');
}
