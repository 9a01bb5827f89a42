import type { SessionExit } from '@liminal/agents';
import type { EventDraft, Response, StreamEvent, Usage } from '@liminal/protocol';
import type { EventLog, ResponseStore } from '@liminal/storage';
import { errorCode, errorMessage } from './errors.ts';
import type { SessionView } from './session-view.ts';
import type { RuntimeSettings } from './settings.ts';
import { Turn } from './turn.ts';

interface SessionTurnsOptions {
  sessionId: string;
  cliType: string;
  log: EventLog;
  store: ResponseStore;
  view: SessionView;
  settings: RuntimeSettings;
  /** ms since the epoch. */
  now: () => number;
  /** Silence is right: a person is being waited for. */
  waitsForPerson: () => boolean;
  onBegun: () => void;
  /** A turn is over and, if that was possible, history. */
  onSettled: (failed: boolean) => void;
  /** A turn was ended for its agent's silence: the agent is to be stopped. */
  onSilent: () => void;
  warn: (error: unknown, message: string) => void;
}

/** What a session's agent says, turn by turn: into the log, from there to the readers, and in the end to history. */
export class SessionTurns {
  readonly #options: SessionTurnsOptions;
  #current: Turn | undefined;
  #usage: Usage | undefined;

  constructor(options: SessionTurnsOptions) {
    this.#options = options;
  }

  /** The turn under way, or on its way into history. */
  get current(): Turn | undefined {
    return this.#current;
  }

  /** What the agent last told of each count. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  hear(draft: EventDraft): void {
    if (this.#current?.turnId !== draft.turnId && !this.#begins(draft)) return;
    const { payload } = draft;
    if ('usage' in payload && payload.usage) this.#usage = { ...this.#usage, ...payload.usage };
    this.#current?.add(draft);
  }

  agentGone({ expected, code = 'PROCESS_CRASH', message }: SessionExit): void {
    if (expected) this.#current?.cancelled();
    else this.#current?.fail(code, message ?? 'The agent’s process ended during the turn.');
  }

  /** Whether a draft of another turn begins it; anything else outside a turn is left out. */
  #begins({ turnId, payload: { type } }: EventDraft): boolean {
    if (type !== 'response_start') {
      this.#options.warn(type, `an event outside its turn ${turnId} was left out`);
      return false;
    }
    this.#current?.fail('PROTOCOL_ERROR', 'The agent began another turn before this one ended.');
    const turn = new Turn({
      ...this.#options,
      turnId,
      onLogged: (events) => this.#logged(events),
      onTrouble: (error) => this.#logTrouble(error),
      onIdle: () => this.#endSilent(turn),
    });
    this.#current = turn;
    void turn.ended.then(async (response) => this.#settle(turn, response));
    this.#options.onBegun();
    return true;
  }

  #logged(events: readonly StreamEvent[]): void {
    const { view } = this.#options;
    view.apply(events);
    if (events.some(({ payload }) => 'usage' in payload && payload.usage)) view.infoChanged();
  }

  #logTrouble(error: unknown): void {
    const { view, warn } = this.#options;
    warn(error, 'the log refuses events; they are kept and tried again');
    const problem = `What the agent says cannot be stored right now: ${errorMessage(error)}`;
    view.report(errorCode(error), `${problem} It is kept and tried again.`);
  }

  async #settle(turn: Turn, response: Response | undefined): Promise<void> {
    if (response) await this.#project(response);
    if (this.#current === turn) this.#current = undefined;
    this.#options.onSettled(response === undefined || response.status === 'error');
  }

  /** The finished run becomes history, and its events may go. */
  async #project(response: Response): Promise<void> {
    const { store, log, view, warn } = this.#options;
    try {
      await store.saveResponse(response);
      await log.settle(response.id);
      view.forget(response.id);
    } catch (error) {
      // The log still has the run: readers get it from there, and the next start projects it.
      warn(error, 'a finished run could not be stored yet');
    }
  }

  #endSilent(turn: Turn): void {
    const minutes = Math.round(this.#options.settings.idleLimitMs / 60_000);
    const message = `The agent said nothing for ${minutes} minutes, so the turn was ended.`;
    turn.fail('IDLE_TIMEOUT', message);
    this.#options.onSilent();
  }
}
