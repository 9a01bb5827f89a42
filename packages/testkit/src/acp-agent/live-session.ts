/** A session in this process: its prompts, one after the other, and what stops them. */
import type { Call } from './call.ts';
import { readAgain } from './history.ts';
import { Stopped, type Player, type Scene } from './player.ts';
import type { AgentScript, StoredSession, Turn } from './script.ts';
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

export class LiveSession {
  readonly #stage: Stage;
  readonly #running = new Map<AbortController, Turn>();
  #last: Promise<unknown> = Promise.resolve();
  #updates: Record<string, unknown>[];
  readonly #session: StoredSession;
  /** Modes, config options and whatever else the script says of a session, as they are now. */
  readonly settings: Settings;

  constructor(stage: Stage, session: StoredSession) {
    this.#stage = stage;
    this.#session = session;
    this.#updates = session.updates ?? [];
    this.settings = structuredClone(stage.script.session ?? {});
  }

  get cwd(): string {
    return this.#session.cwd;
  }

  async prompt(call: Call, prompt: unknown): Promise<void> {
    const before = this.#last;
    const second = this.#running.size > 0 ? (this.#stage.script.secondPrompt ?? 'queue') : 'queue';
    if (second === 'never') return;
    if (second === 'error')
      return call.error({ code: -32600, message: 'A prompt is running already.' });
    const turn =
      second === 'queue' ? before.then(() => this.#turn(call, prompt)) : this.#turn(call, prompt);
    this.#last = turn;
    await turn;
  }

  /** `session/cancel`. */
  cancel(): void {
    for (const [abort, turn] of this.#running)
      if (this.#cancelled(turn) !== 'ignore') abort.abort();
  }

  /** Ends what runs, and says nothing more. */
  close(): void {
    for (const abort of this.#running.keys()) abort.abort();
  }

  save(): void {
    this.#stage.stored.save({ ...this.#session, updates: readAgain(this.#updates) });
  }

  async #turn(call: Call, prompt: unknown): Promise<void> {
    const text = textOf(prompt);
    const turn = this.#stage.script.turns?.find(
      ({ when }) => when === undefined || text.includes(when),
    ) ?? { steps: [{ say: `You said: ${text}` }] };
    const abort = new AbortController();
    this.#running.set(abort, turn);
    this.#remember(prompt, text);
    const { sessionId, cwd } = this.#session;
    const scene: Scene = {
      sessionId,
      words: { sessionId, cwd, prompt: text },
      signal: abort.signal,
      call,
      note: (update) => void this.#updates.push(update),
    };
    await this.#play(turn, scene);
    this.#running.delete(abort);
    this.save();
  }

  async #play(turn: Turn, scene: Scene): Promise<void> {
    const { player } = this.#stage;
    const { call } = scene;
    try {
      await player.play(turn.steps, scene);
      if (call?.answered === false) await call.result({ stopReason: 'end_turn' });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      await player.play(turn.onCancel ?? [], { ...scene, signal: new AbortController().signal });
      if (call?.answered === false) await this.#answerCancelled(call, turn);
    }
  }

  async #answerCancelled(call: Call, turn: Turn): Promise<void> {
    const reply = this.#cancelled(turn);
    if (reply === 'never') return;
    if (reply === 'error') return call.error({ code: -32603, message: 'The turn was cancelled.' });
    await call.result({ stopReason: reply === 'end_turn' ? 'end_turn' : 'cancelled' });
  }

  #cancelled(turn: Turn): string {
    return turn.cancel ?? this.#stage.script.cancel ?? 'cancelled';
  }

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
