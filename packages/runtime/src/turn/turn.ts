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
  type SpanPlace,
  type StreamEvent,
  type TraceContext,
  writeTraceparent,
} from '@liminal/protocol';
import { type EventLog, StorageError } from '@liminal/storage';
import type { BlobKeeper } from '../blobs/index.ts';
import { RuntimeError } from '../errors.ts';
import { type RunNews, RunWriter, type Unwritten, type WrittenRun } from './run-writer.ts';
import type { DeltaPace } from './delta-pace.ts';
import type { Meter } from '../meter.ts';
import type { RuntimeSettings } from '../settings.ts';
import { newId, newTrace, type Tracing } from '../tracing/index.ts';
import type { Supervisor } from './supervisor.ts';
import { Watchdog } from './watchdog.ts';

/** How long a turn waits for the log to have the end of the turn before, in ms, until that counts as a refusal. */
const BEFORE_MS = 500;

const NOT_KEPT =
  'The server ends this turn before it could store the message. Send it again, if the turn does not show it.';

/** How a turn ends that its server's orderly end has cut off. */
const SERVER_ENDED: ErrorObject = {
  code: 'SERVER_ENDED',
  message:
    'The server stopped while the agent was working. Everything up to then is kept; send a message to continue.',
};

/** What a turn needs of its session. */
export interface TurnContext {
  sessionId: string;
  cliType: string;
  log: EventLog;
  settings: RuntimeSettings;
  pace: DeltaPace;
  /** ISO 8601 UTC. */
  iso: () => string;
  supervisor: Supervisor;
  blobKeeper: BlobKeeper;
  meter?: Pick<Meter, 'appended' | 'appendRefused'> | undefined;
  tracing?: Tracing;
}

interface TurnOptions {
  turnId: string;
  /** The trace of the request that brought its message; a new one without it. */
  parent?: TraceContext | undefined;
  /** Resolves when the log has the end of the turn before. */
  before: Promise<unknown> | undefined;
  /** Whether the turn waits for a person: then silence is right. */
  waitsForPerson: () => boolean;
  /** Whether this server still owns the session. */
  owns: () => Promise<boolean>;
}

/** Something said in the middle of a turn. */
interface Said {
  /** The log has its beginning. */
  begins: () => void;
  done: Promise<unknown>;
}

interface TurnNews extends RunNews {
  /** The agent has been silent for too long. */
  silent: [];
  /** A message that was steered into a turn and not read before a person stopped the turn, which no longer contains it. */
  unread: [message: SteeredMessage];
}

/** A message that was steered into a turn. */
export type SteeredMessage = Extract<OutputItem, { type: 'message' }>;

/** A turn under way: its writer and its watchdog. */
export class Turn extends EventEmitter<TurnNews> {
  readonly turnId: string;
  /** For the server's log. */
  readonly ids: { turnId: string; runId: string; traceId: string };
  readonly #writer: RunWriter;
  /** The span of the request that brought its message. */
  readonly #parent: SpanPlace | undefined;
  readonly #watchdog: Watchdog;
  readonly #iso: () => string;
  readonly #heard = Promise.withResolvers<void>();
  /** What was said in the middle of the turn, by item. */
  readonly #said = new Map<string, Said>();
  #aborted = false;
  #endsWithServer = false;
  /** The log does not have the turn's message: the next owner must give it to an agent. */
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
      // The first run of a turn shares its id.
      run: { sessionId, runId: turnId, traceContext },
      providerId: cliType,
      mayBegin: async () => {
        if (before) await loggedSoon(before);
        this.#passedOn = !(await owns());
        return !this.#passedOn;
      },
      blobs: context.blobKeeper,
      supervisor,
      meter,
    });
    this.#writer.on('logged', (events) => {
      if (events.some(isPrompt)) this.#heard.resolve();
      for (const { payload } of events) {
        if (payload.type === 'item_start') this.#said.get(payload.itemId)?.begins();
      }
      this.emit('logged', events);
    });
    this.#writer.on('refused', (error) => this.emit('refused', error));
    this.#writer.on('overflow', () => this.emit('overflow'));
    this.#watchdog = new Watchdog({
      ...settings,
      excused: waitsForPerson,
      onHeartbeat: () => supervisor.run(() => this.#say({ type: 'heartbeat' })),
      onIdle: () => supervisor.run(() => this.emit('silent')),
    });
    void this.ended.then(() => {
      this.#watchdog.stop();
      if (!this.#passedOn) this.#heard.resolve();
    });
  }

  /** Resolves with the folded run when its terminal event is in the log; with undefined if the writer lost the run. */
  get ended(): Promise<Response | undefined> {
    return this.#writer.ended;
  }

  /** The run so far, including what the log lacks. */
  get written(): WrittenRun {
    return this.#writer.written;
  }

  /** Resolves when the log has the turn's user message, or the turn has ended; never if it is passed on. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }

  /**
   * Has something said in the middle of the turn, once per item. Resolves when the log has the item's beginning, or the
   * turn's end; rejects as `say` does, and with `SHUTTING_DOWN` if this server stops writing the turn before.
   */
  async say(itemId: string, say: () => Promise<void>): Promise<void> {
    const said = this.#said.get(itemId) ?? this.#saying(itemId, say);
    await said.done;
  }

  /** Whether something was said in the middle of the turn, or is being said. */
  hasSaid(itemId: string): boolean {
    return this.#said.has(itemId);
  }

  #saying(itemId: string, say: () => Promise<void>): Said {
    const { promise: logged, resolve: begins } = Promise.withResolvers<void>();
    const done = say()
      .then(async () => {
        const isKept = await Promise.race([logged.then(() => true), this.ended.then(Boolean)]);
        if (!isKept) throw new RuntimeError('SHUTTING_DOWN', NOT_KEPT);
      })
      .catch((error: unknown) => {
        this.#said.delete(itemId);
        throw error;
      });
    const said = { begins, done };
    this.#said.set(itemId, said);
    return said;
  }

  /** Whether its terminal event has been given. */
  get over(): boolean {
    return this.#writer.sealed;
  }

  add(draft: EventDraft): void {
    this.#watchdog.heard();
    if (draft.payload.type === 'turn_aborted_by_user') {
      if (this.#aborted || this.#endsWithServer) return;
      this.#aborted = true;
    }
    this.#write(this.#traced(draft));
  }

  /** Records, once, that the user asked to stop. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#say({ type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
  }

  /** Ends a turn that its agent will not end. */
  fail(code: string, message: string): void {
    this.#say({ type: 'response_error', error: { code, message } });
  }

  /** Ends the turn after an internal error; if even that fails, as a lost one. */
  breakOff(code: string, message: string): void {
    try {
      this.fail(code, message);
    } catch {
      this.#writer.giveUp();
    }
  }

  /** Gives the turn up because the server closes; returns what the log never took. */
  abandon(): Unwritten {
    this.#passedOn = true;
    return this.#writer.abandon();
  }

  /** The server ends it: unless a person has stopped it before, its end says so. */
  endsWithServer(): void {
    this.#endsWithServer = !this.#aborted;
  }

  cancelled(): void {
    this.#say({ type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
  }

  /** An agent that is ended with the server calls its turn cancelled, as if a person had stopped it. */
  #explained(draft: EventDraft): EventDraft {
    const { payload } = draft;
    const isCancelled = payload.type === 'response_done' && payload.status === 'cancelled';
    if (!isCancelled || !this.#endsWithServer) return draft;
    const { usage } = payload;
    return {
      ...draft,
      payload: { type: 'response_error', error: SERVER_ENDED, ...(usage && { usage }) },
    };
  }

  /** The first event says where the turn's span belongs. */
  #traced(draft: EventDraft): EventDraft {
    if (draft.payload.type !== 'response_start' || !this.#parent) return draft;
    return { ...draft, payload: { ...draft.payload, parentSpanId: this.#parent.spanId } };
  }

  #say(payload: EventDraft['payload']): void {
    this.#write({ turnId: this.turnId, timestamp: this.#iso(), payload });
  }

  #write(draft: EventDraft): void {
    const { payload } = draft;
    const unread = this.#aborted && !this.over ? this.#unreadAt(payload) : [];
    for (const item of unread) {
      const withdrawn = { type: 'item_cancelled', itemId: item.id, reason: backInQueue } as const;
      this.#writer.add({ ...draft, payload: withdrawn });
      this.emit('unread', item);
    }
    if (payload.type === 'item_done' && unread.length > 0) return;
    this.#writer.add(this.#explained(draft));
  }

  /** The messages that a payload would close as not read. */
  #unreadAt(payload: EventDraft['payload']): SteeredMessage[] {
    if (payload.type === 'item_done') {
      const { finalItem: item } = payload;
      return item.type === 'message' && item.delivery === 'not_taken' ? [item] : [];
    }
    return isTerminal(payload) ? openSteered(this.written.state) : [];
  }
}

/** Why a steered message is withdrawn from its turn: it waits in the queue again. */
export const backInQueue = 'back_in_queue';

/** The steered messages of a run that its agent has not read, in the order in which they were sent. */
export function openSteered(state: ResponseState): SteeredMessage[] {
  return currentItems(state, state.open.keys()).filter(
    (item): item is SteeredMessage => item.type === 'message' && item.delivery === 'sent',
  );
}

/** Throws after `BEFORE_MS`: that is then retried and reported like a refusal of the log. */
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

/** A new span in a trace. */
function spanOf(
  { traceId, isSampled }: Omit<SpanPlace, 'spanId'>,
  tracestate: string | undefined,
): TraceContext {
  const traceparent = writeTraceparent({ traceId, spanId: newId(8), isSampled });
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
