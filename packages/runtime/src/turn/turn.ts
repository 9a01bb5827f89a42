import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  currentItems,
  type ErrorObject,
  type EventDraft,
  isTerminal,
  type OutputItem,
  readTraceparent,
  type Response,
  type ResponseState,
  type SpanContext,
  type TraceContext,
  writeTraceparent,
} from '@liminal/protocol';
import { type EventLog, storageErrors } from '@liminal/storage';
import { errors } from '../errors.ts';
import type { BlobKeeper } from '../blobs/index.ts';
import {
  type RunWriterEvents,
  RunWriter,
  type UnloggedCounts,
  type WrittenRun,
} from './run-writer.ts';
import type { DeltaPace } from './delta-pace.ts';
import type { Meter } from '../meter.ts';
import type { RuntimeSettings } from '../settings.ts';
import { newId, newTrace, type Tracing } from '../tracing/index.ts';
import type { Supervisor } from './supervisor.ts';
import { Watchdog } from './watchdog.ts';

/**
 * How long a turn waits until the log has the end of the previous turn, in ms. After this time, the turn's append to
 * the log fails and is retried.
 */
const beforeMs = 500;

/** The error of a turn that an orderly stop of its server has cut off. */
const serverEnded: ErrorObject = {
  code: 'SERVER_ENDED',
  message:
    'The server stopped while the agent was working. Everything up to then is kept; send a message to continue.',
};

/** The data that a turn needs from its session. */
export interface TurnContext {
  sessionId: string;
  cliType: string;
  log: EventLog;
  settings: RuntimeSettings;
  pace: DeltaPace;
  /** The current time, ISO 8601 UTC. */
  iso: () => string;
  supervisor: Supervisor;
  blobKeeper: BlobKeeper;
  meter?: Pick<Meter, 'appended' | 'appendRefused'> | undefined;
  tracing?: Tracing;
}

interface TurnOptions {
  turnId: string;
  /** The trace of the request that sent the turn's message; without it, a new trace begins. */
  parent?: TraceContext | undefined;
  /** Resolves when the log has the end of the previous turn. */
  before: Promise<unknown> | undefined;
  /** Whether the turn waits for a user. While it waits, an agent's silence does not end the turn. */
  waitsForPerson: () => boolean;
  /** Whether this server still owns the session. */
  owns: () => Promise<boolean>;
}

/** A message while it is being steered into the turn. */
interface Steering {
  /** Call this function when the log has the beginning of the message's item. */
  begins: () => void;
  done: Promise<unknown>;
}

interface TurnEventMap extends RunWriterEvents {
  /** The agent has been silent for too long. */
  silent: [];
  /**
   * A steered message that the agent had not read when a user stopped the turn; the message is removed from the turn.
   */
  unread: [message: SteeredMessage];
}

/** A message that was steered into a turn. */
export type SteeredMessage = Extract<OutputItem, { type: 'message' }>;

/** A running turn: its writer and its watchdog. */
export class Turn extends EventEmitter<TurnEventMap> {
  readonly turnId: string;
  /** The ids that the server's log shows for this turn. */
  readonly ids: { turnId: string; runId: string; traceId: string };
  readonly #writer: RunWriter;
  /** The span of the request that sent the turn's message; the parent of the turn's span. */
  readonly #parent: SpanContext | undefined;
  readonly #watchdog: Watchdog;
  readonly #iso: () => string;
  readonly #promptLogged = Promise.withResolvers<void>();
  /** Messages that were steered into the turn, by item. */
  readonly #steered = new Map<string, Steering>();
  #aborted = false;
  #endsWithServer = false;
  /** True if the log lacks the turn's message, so that the next owner must send the message to an agent. */
  #passedOn = false;

  constructor(context: TurnContext, { turnId, parent, ...options }: TurnOptions) {
    super();
    const { before, waitsForPerson, owns } = options;
    const { sessionId, cliType, log, settings, pace, supervisor, meter } = context;
    this.turnId = turnId;
    this.#parent = readTraceparent(parent?.traceparent);
    this.#iso = context.iso;
    const traceContext = spanOf(this.#parent ?? newTrace(context.tracing), parent?.tracestate);
    const traceId = readTraceparent(traceContext.traceparent)?.traceId ?? '';
    this.ids = { turnId, runId: turnId, traceId };
    this.#writer = new RunWriter({
      maxUnlogged: settings.maxUnlogged,
      pace,
      log,
      // The first run of a turn shares the turn's id.
      run: { sessionId, runId: turnId, traceContext },
      providerId: cliType,
      mayBegin: async () => {
        if (before) await awaitLoggedEnd(before);
        this.#passedOn = !(await owns());
        return !this.#passedOn;
      },
      blobs: context.blobKeeper,
      supervisor,
      meter,
    });
    this.#writer.on('logged', (events) => {
      for (const { payload } of events) {
        if (payload.type === 'item_start') this.#steered.get(payload.itemId)?.begins();
        if (payload.type === 'item_done' && isUserMessage(payload.finalItem)) {
          this.#promptLogged.resolve();
        }
      }
      this.emit('logged', events);
    });
    this.#writer.on('refused', (error) => this.emit('refused', error));
    this.#writer.on('overflow', () => this.emit('overflow'));
    this.#watchdog = new Watchdog({
      ...settings,
      excused: waitsForPerson,
      onHeartbeat: () => supervisor.run(() => this.#writePayload({ type: 'heartbeat' })),
      onIdle: () => supervisor.run(() => this.emit('silent')),
    });
    void this.ended.then(() => {
      this.#watchdog.stop();
      if (!this.#passedOn) this.#promptLogged.resolve();
    });
  }

  /** Resolves with the folded run when its terminal event is in the log; with undefined if the writer lost the run. */
  get ended(): Promise<Response | undefined> {
    return this.#writer.ended;
  }

  /** The run so far, including events that the log does not have yet. */
  get written(): WrittenRun {
    return this.#writer.written;
  }

  /**
   * Resolves when the log has the turn's user message, or when the turn has ended; never resolves if the next owner
   * must send the message.
   */
  get promptLogged(): Promise<void> {
    return this.#promptLogged.promise;
  }

  /**
   * Steers a message into the turn; repeated calls for the same item send the message once. Resolves when the log has
   * the beginning of the item, or the turn's end. Rejects with the error of `send`; or with `SHUTTING_DOWN` if this
   * server stops writing the turn first.
   */
  async steer(itemId: string, send: () => Promise<void>): Promise<void> {
    const steering = this.#steered.get(itemId) ?? this.#startSteering(itemId, send);
    await steering.done;
  }

  /** Whether a message was steered into the turn, or is being steered. */
  hasSteered(itemId: string): boolean {
    return this.#steered.has(itemId);
  }

  #startSteering(itemId: string, send: () => Promise<void>): Steering {
    const { promise: logged, resolve: begins } = Promise.withResolvers<void>();
    const done = send()
      .then(async () => {
        const isLogged = await Promise.race([logged.then(() => true), this.ended.then(Boolean)]);
        if (!isLogged) throw errors.SHUTTING_DOWN.maybeNotStored();
      })
      .catch((error: unknown) => {
        this.#steered.delete(itemId);
        throw error;
      });
    const steering = { begins, done };
    this.#steered.set(itemId, steering);
    return steering;
  }

  /** Whether the turn's terminal event was added. */
  get isOver(): boolean {
    return this.#writer.sealed;
  }

  add(draft: EventDraft): void {
    this.#watchdog.recordActivity();
    // The changes below do not concern deltas.
    if (draft.payload.type === 'item_delta') return this.#writer.add(draft);
    if (draft.payload.type === 'turn_aborted_by_user') {
      if (this.#aborted || this.#endsWithServer) return;
      this.#aborted = true;
    }
    this.#write(this.#traced(draft));
  }

  /** Records that the user asked to stop; later calls do nothing. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#writePayload({ type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
  }

  /** Ends a turn that its agent will not end. */
  fail(code: string, message: string): void {
    this.#writePayload({ type: 'response_error', error: { code, message } });
  }

  /** Ends the turn after an internal error. If the error event cannot be written, ends the turn as lost. */
  breakOff(code: string, message: string): void {
    try {
      this.fail(code, message);
    } catch {
      this.#writer.giveUp();
    }
  }

  /** Stops writing the turn because the server closes; returns the size of the events that the log never accepted. */
  abandon(): UnloggedCounts {
    this.#passedOn = true;
    return this.#writer.abandon();
  }

  /**
   * Marks that the server ends the turn: the turn's end then has the error `SERVER_ENDED`, unless a user had already
   * stopped the turn.
   */
  endsWithServer(): void {
    this.#endsWithServer = !this.#aborted;
  }

  endAsCancelled(): void {
    this.#writePayload({ type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
  }

  /**
   * Replaces the cancelled end of a turn by the error `SERVER_ENDED`: an agent that ends with the server reports its
   * turn as cancelled, as if a user had stopped it.
   */
  #withServerEndError(draft: EventDraft): EventDraft {
    const { payload } = draft;
    const isCancelled = payload.type === 'response_done' && payload.status === 'cancelled';
    if (!isCancelled || !this.#endsWithServer) return draft;
    const { usage } = payload;
    return {
      ...draft,
      payload: { type: 'response_error', error: serverEnded, ...(usage && { usage }) },
    };
  }

  /** Adds the span that is the parent of the turn's span to the first event. */
  #traced(draft: EventDraft): EventDraft {
    if (draft.payload.type !== 'response_start' || !this.#parent) return draft;
    return { ...draft, payload: { ...draft.payload, parentSpanId: this.#parent.spanId } };
  }

  #writePayload(payload: EventDraft['payload']): void {
    this.#write({ turnId: this.turnId, timestamp: this.#iso(), payload });
  }

  #write(draft: EventDraft): void {
    const { payload } = draft;
    const unread = this.#aborted && !this.isOver ? this.#unreadAt(payload) : [];
    for (const item of unread) {
      const withdrawn = { type: 'item_cancelled', itemId: item.id, reason: backInQueue } as const;
      this.#writer.add({ ...draft, payload: withdrawn });
      this.emit('unread', item);
    }
    if (payload.type === 'item_done' && unread.length > 0) return;
    this.#writer.add(this.#withServerEndError(draft));
  }

  /** Returns the steered messages that would be closed as unread by this payload. */
  #unreadAt(payload: EventDraft['payload']): SteeredMessage[] {
    if (payload.type === 'item_done') {
      const { finalItem: item } = payload;
      return item.type === 'message' && item.delivery === 'not_taken' ? [item] : [];
    }
    return isTerminal(payload) ? openSteered(this.written.state) : [];
  }
}

/** The reason for withdrawing a steered message from its turn: the message was returned to the queue. */
export const backInQueue = 'back_in_queue';

/** The steered messages of a run that its agent has not read, oldest first. */
export function openSteered(state: ResponseState): SteeredMessage[] {
  return currentItems(state, state.open.keys()).filter(
    (item): item is SteeredMessage => item.type === 'message' && item.delivery === 'sent',
  );
}

/**
 * Waits for the end of the previous turn, at most `beforeMs`; then throws. The writer reports and retries this error
 * like a rejection by the log.
 */
async function awaitLoggedEnd(end: Promise<unknown>): Promise<void> {
  const late = delay(beforeMs, undefined, { ref: false }).then(() => {
    throw storageErrors.LOG_WRITE_FAILED.earlierEnd();
  });
  await Promise.race([end, late]);
}

function isUserMessage(item: OutputItem): boolean {
  return item.type === 'message' && item.origin === 'user';
}

/** A new span in a trace. */
function spanOf(
  { traceId, isSampled }: Omit<SpanContext, 'spanId'>,
  tracestate: string | undefined,
): TraceContext {
  const traceparent = writeTraceparent({ traceId, spanId: newId(8), isSampled });
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
