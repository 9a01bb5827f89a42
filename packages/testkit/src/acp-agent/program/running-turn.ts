/** A turn that is being played, and its end if it is stopped. */
import type { Call } from './call.ts';
import type { Player, Scene } from './player.ts';
import { Stopped } from './player.ts';
import type { Turn } from '../script.ts';

const cancelledCode = -32800;
const internalError = -32603;

export class RunningTurn {
  readonly call: Call;
  readonly #player: Player;
  readonly #turn: Turn;
  readonly #abort = new AbortController();
  /** Replies to the prompt after the turn was stopped. */
  #answer = async (): Promise<void> => undefined;

  constructor(player: Player, turn: Turn, call: Call) {
    this.#player = player;
    this.#turn = turn;
    this.call = call;
  }

  /** Resolves when the turn is over, whether its prompt was answered or not. */
  async play(scene: Omit<Scene, 'call' | 'signal'>): Promise<void> {
    const { call } = this;
    try {
      await this.#player.play(this.#turn.steps, { ...scene, call, signal: this.#abort.signal });
      if (!call.answered) await call.result({ stopReason: 'end_turn' });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      const signal = new AbortController().signal;
      await this.#player.play(this.#turn.onCancel ?? [], { ...scene, call, signal });
      if (!call.answered) await this.#answer();
    }
  }

  /** Handles `session/cancel`. `reply` is the script's answer for turns that contain no answer of their own. */
  cancel(reply: Turn['cancel']): void {
    const { call } = this;
    switch (this.#turn.cancel ?? reply ?? 'cancelled') {
      case 'ignore':
        return;
      case 'never':
        return this.stop(async () => undefined);
      case 'error':
        return this.stop(() => call.error({ code: internalError, message: 'Interrupted' }));
      case 'end_turn':
        return this.stop(() => call.result({ stopReason: 'end_turn' }));
      case 'cancelled':
        return this.stop(() => call.result({ stopReason: 'cancelled' }));
    }
  }

  /** `$/cancel_request`. */
  cancelRequest(): void {
    this.stop(() => this.call.error({ code: cancelledCode, message: 'Request cancelled' }));
  }

  /** Stops the turn at once, and then calls `answer`. */
  stop(answer: () => Promise<void>): void {
    this.#answer = answer;
    this.#abort.abort();
  }
}
