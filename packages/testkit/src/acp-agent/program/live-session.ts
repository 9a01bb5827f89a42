/** A session in this process: its prompts, one after the other, and what it will say of itself when it is loaded. */
import type { Call } from './call.ts';
import { readAgain } from './history.ts';
import type { Player } from './player.ts';
import { RunningTurn } from './running-turn.ts';
import type { AgentScript, StoredSession, Turn } from '../script.ts';
import type { Settings } from './settings.ts';
import type { StoredSessions } from './stored-sessions.ts';
import type { Voice } from './wire.ts';

/** What all of its sessions need of the agent. */
export interface Stage {
  script: AgentScript;
  player: Player;
  voice: Voice;
  stored: StoredSessions;
}

const invalidRequest = -32600;

export class LiveSession {
  /** Modes, config options and whatever else the script says of a session, as they are now. */
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

  /** Resolves when the prompt's turn is over, or has been put off. */
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

  /** `session/cancel`: of what runs, not of what waits. */
  cancel(): void {
    for (const running of this.#running) running.cancel(this.#stage.script.cancel);
  }

  /** `$/cancel_request`, if it is about a prompt that runs. */
  cancelRequest(requestId: unknown): void {
    for (const running of this.#running) if (running.call.id === requestId) running.cancelRequest();
  }

  /** `session/close`: what runs is cancelled, whatever the script says of that. */
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

  /** Its own messages are lost if the agent dies in the middle of the turn; the user's is not. */
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
