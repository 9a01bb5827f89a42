import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventDraft, Response, RunEnvelope, StreamEvent } from '@liminal/protocol';
import { type EventLog, StorageError } from '@liminal/storage';
import { RunWriter, type Unwritten, type WrittenRun } from './run-writer.ts';
import type { RuntimeSettings } from '../settings.ts';
import type { Supervisor } from './supervisor.ts';
import { Watchdog } from './watchdog.ts';

/** How long the log may take for the end of the turn before, in ms, until the turn that waits says that it is in trouble. */
const BEFORE_MS = 500;

interface TurnOptions {
  sessionId: string;
  turnId: string;
  /** Resolves when the log has the end of the turn before. */
  before: Promise<unknown> | undefined;
  cliType: string;
  log: EventLog;
  settings: RuntimeSettings;
  now: () => number;
  waitsForPerson: () => boolean;
  /** Whether the session is this server's still. */
  owns: () => Promise<boolean>;
  onLogged: (events: readonly StreamEvent[]) => void;
  onTrouble: (error: unknown) => void;
  /** The agent has been silent for too long. */
  onIdle: () => void;
  /** The log has refused events for too long. */
  onOverflow: () => void;
  supervisor: Supervisor;
}

/** A turn under way: its writer, and the watch over its silence. */
export class Turn {
  readonly turnId: string;
  readonly #writer: RunWriter;
  readonly #watchdog: Watchdog;
  readonly #now: () => number;
  readonly #heard = Promise.withResolvers<void>();
  #aborted = false;
  /** Its message, which the log does not have, is the next owner's to give an agent. */
  #passedOn = false;

  constructor(options: TurnOptions) {
    const { sessionId, turnId, log, settings, supervisor } = options;
    this.turnId = turnId;
    this.#now = options.now;
    this.#writer = new RunWriter({
      log,
      // The first run of a turn shares its id.
      run: { sessionId, runId: turnId, traceContext: newTrace() },
      providerId: options.cliType,
      mayBegin: async () => {
        if (options.before) await loggedSoon(options.before);
        this.#passedOn = !(await options.owns());
        return !this.#passedOn;
      },
      cadenceMs: settings.cadenceMs,
      onLogged: (events) => {
        if (events.some(isPrompt)) this.#heard.resolve();
        options.onLogged(events);
      },
      onTrouble: options.onTrouble,
      maxWaiting: settings.maxUnlogged,
      onOverflow: options.onOverflow,
      supervisor,
    });
    this.#watchdog = new Watchdog({
      heartbeatMs: settings.heartbeatMs,
      idleLimitMs: settings.idleLimitMs,
      excused: options.waitsForPerson,
      onHeartbeat: () => supervisor.run(() => this.#say({ type: 'heartbeat' })),
      onIdle: () => supervisor.run(options.onIdle),
    });
    void this.ended.then(() => {
      this.#watchdog.stop();
      if (!this.#passedOn) this.#heard.resolve();
    });
  }

  /** Resolves with the folded run when its terminal event is in the log; with nothing if another writer took it. */
  get ended(): Promise<Response | undefined> {
    return this.#writer.ended;
  }

  /** What it has come to, whether or not the log has it. */
  get written(): WrittenRun {
    return this.#writer.written;
  }

  /** Resolves when the log has the message that set it off, or another's end of the turn; never if it is passed on. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }

  /** Whether its terminal event has been given. */
  get over(): boolean {
    return this.#writer.sealed;
  }

  add(draft: EventDraft): void {
    this.#watchdog.heard();
    if (draft.payload.type === 'turn_aborted_by_user') {
      if (this.#aborted) return;
      this.#aborted = true;
    }
    this.#writer.add(draft);
  }

  /** Says that the user asked to stop; once. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#say({ type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
  }

  /** Ends a turn that its agent will not end. */
  fail(code: string, message: string): void {
    this.#say({ type: 'response_error', error: { code, message } });
  }

  /** Something of ours went wrong in it: it ends, as a lost one where even that goes wrong. */
  breakOff(code: string, message: string): void {
    try {
      this.fail(code, message);
    } catch {
      this.#writer.giveUp();
    }
  }

  /** Gives the turn up, as the server ends; says what of it the log never took. */
  abandon(): Unwritten {
    this.#passedOn = true;
    return this.#writer.abandon();
  }

  cancelled(): void {
    this.#say({ type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
  }

  #say(payload: EventDraft['payload']): void {
    const timestamp = new Date(this.#now()).toISOString();
    this.#writer.add({ turnId: this.turnId, timestamp, payload });
  }
}

/** Throws where it takes too long: then what waits for it is counted, as where the log refuses. */
async function loggedSoon(end: Promise<unknown>): Promise<void> {
  const late = delay(BEFORE_MS, undefined, { ref: false }).then(() => {
    throw new StorageError('LOG_WRITE_FAILED', 'The log lacks the end of the turn before.');
  });
  await Promise.race([end, late]);
}

function isPrompt({ payload }: StreamEvent): boolean {
  if (payload.type !== 'item_done' || payload.finalItem.type !== 'message') return false;
  return payload.finalItem.origin === 'user';
}

/** A W3C trace of the run's own. */
function newTrace(): RunEnvelope['traceContext'] {
  const trace = randomBytes(16).toString('hex');
  const span = randomBytes(8).toString('hex');
  return { traceparent: `00-${trace}-${span}-01` };
}
