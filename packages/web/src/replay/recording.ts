/** Plays a session's file: puts its events on one timeline, and computes the session's view after each event. */
import { applyMessage, emptyView, type SessionView } from '@liminal/client';
import {
  type ExportedSession,
  type ExportHeader,
  foldUpsert,
  type FoldOutput,
  readExport,
  rebuildEvents,
  type Response,
  runSpans,
  type ServerMessage,
  type SessionSummary,
  type Span,
  startUpsertFold,
  type StreamEvent,
  type UpsertFoldState,
} from '@liminal/protocol';

/** One turn of the file, with its run. */
export interface RecordedRun {
  run: Response;
  /** Whether the file contained no events of the run. The events are then made from the finished turn. */
  isRebuilt: boolean;
  /** The indexes of the run's first and last event in the recording. */
  from: number;
  to: number;
}

/** An event in the recording. */
export interface RecordedStep {
  event: StreamEvent;
  /** The index of the event's run. */
  run: number;
  /** The time of the event, in ms since the epoch; never earlier than the time of the previous step. */
  at: number;
}

export interface Recording {
  header: ExportHeader;
  session: ExportedSession;
  runs: readonly RecordedRun[];
  steps: readonly RecordedStep[];
}

/** Throws LiminalError `EXPORT_UNREADABLE`. */
export async function readRecording(text: AsyncIterable<string>): Promise<Recording> {
  let header: ExportHeader | undefined;
  let session: ExportedSession | undefined;
  const runs: RecordedRun[] = [];
  const steps: RecordedStep[] = [];
  for await (const part of readExport(text)) {
    if (part.type === 'header') ({ header } = part);
    if (part.type === 'session') ({ session } = part);
    if (part.type !== 'run') continue;
    const { run, events = rebuildEvents(run) } = part;
    const from = steps.length;
    for (const event of events) {
      const at = Math.max(Date.parse(event.timestamp), steps.at(-1)?.at ?? 0);
      steps.push({ event, run: runs.length, at });
    }
    const to = Math.max(from, steps.length - 1);
    runs.push({ run, isRebuilt: part.events === undefined, from, to });
  }
  // Every complete file has a header and a session.
  if (!header || !session) throw new Error('The file has no header.');
  return { header, session, runs, steps };
}

/** Returns the spans of the whole turn, including spans after the present moment. */
export function spansOf({ run }: RecordedRun): Span[] {
  return runSpans(run);
}

/** The state after a number of steps. It is deeply immutable. */
interface PlayerState {
  view: SessionView;
  fold: UpsertFoldState;
}

/** The number of steps between two kept states. A jump folds at most this many steps. */
const snapshotInterval = 256;

/** Computes the page's state after each step, with the folds that a live page uses. */
export class Player {
  readonly recording: Recording;
  /** The kept states: after 0 steps, after `snapshotInterval` steps and so on, up to the last step that was folded. */
  readonly #snapshots: PlayerState[];
  #last: { count: number; shown: PlayerState };

  constructor(recording: Recording) {
    this.recording = recording;
    const begin = { view: firstView(recording), fold: startUpsertFold({ appends: true }) };
    this.#snapshots = [begin];
    this.#last = { count: 0, shown: begin };
  }

  /** Returns the session after its first `count` steps. */
  viewAfter(count: number): SessionView {
    this.#last = { count, shown: this.#foldOn(this.#nearest(count), count) };
    return this.#last.shown.view;
  }

  /**
   * Folds steps that were not folded yet, for `forMs` milliseconds, so that a later jump to these steps is quick.
   * Returns whether steps remain.
   */
  prepare(forMs: number): boolean {
    const until = performance.now() + forMs;
    for (;;) {
      const count = (this.#snapshots.length - 1) * snapshotInterval;
      const shown = this.#snapshots.at(-1);
      const isOver = count + snapshotInterval > this.recording.steps.length;
      if (shown === undefined || isOver) return false;
      if (performance.now() >= until) return true;
      this.#foldOn({ count, shown }, count + snapshotInterval);
    }
  }

  /** Returns the state after `to` steps, folded from an earlier state. Keeps states in between. */
  #foldOn({ count, shown: from }: { count: number; shown: PlayerState }, to: number): PlayerState {
    let shown = from;
    for (let at = count; at < to; at += 1) {
      shown = this.#step(shown, at);
      if ((at + 1) % snapshotInterval === 0) this.#snapshots[(at + 1) / snapshotInterval] ??= shown;
    }
    return shown;
  }

  #nearest(count: number): { count: number; shown: PlayerState } {
    const index = Math.min(Math.floor(count / snapshotInterval), this.#snapshots.length - 1);
    const nearest = { count: index * snapshotInterval, shown: this.#snapshots[index] };
    const isLastNearer = this.#last.count <= count && this.#last.count >= nearest.count;
    return isLastNearer || nearest.shown === undefined
      ? this.#last
      : { count: nearest.count, shown: nearest.shown };
  }

  #step({ view, fold }: PlayerState, index: number): PlayerState {
    const step = this.recording.steps[index];
    if (!step) return { view, fold };
    const isFirst = this.recording.runs[step.run]?.from === index;
    const before = isFirst ? startUpsertFold({ appends: true }) : fold;
    const { state, outputs } = foldUpsert(before, step.event, step.at);
    const messages = outputs.map((output) => toServerMessage(output, view.sessionId));
    return {
      view: messages.reduce((shown, message) => applyMessage(shown, message, step.at), view),
      fold: state,
    };
  }
}

/** Returns the message as a server sends it. The cursor is empty, because no subscriber continues from it. */
function toServerMessage(output: FoldOutput, sessionId: string): ServerMessage {
  const sent = { sessionId, cursor: '' };
  switch (output.kind) {
    case 'upsert':
      return { type: 'session:upsert', payload: output.upsert, ...sent };
    case 'append': {
      const { turnId, itemId, at, text } = output;
      return { type: 'session:append', turnId, itemId, at, text, ...sent };
    }
    case 'discard':
      return { type: 'session:discard', turnId: output.turnId, itemId: output.itemId, ...sent };
    case 'turn':
      return { type: 'session:turn', payload: output.event, ...sent };
  }
}

function firstView({ header, session }: Recording): SessionView {
  const { type: _, failed = false, ...about } = session;
  const summary: SessionSummary = {
    ...about,
    state: failed ? 'failed' : 'idle',
    isAlive: false,
    active: false,
    source: 'liminal',
    importedFrom: { sessionId: session.sessionId, exportedAt: header.exportedAt },
  };
  return {
    ...emptyView(session.sessionId),
    phase: 'ready',
    info: { session: summary, queue: [], configOptions: [], commands: [] },
  };
}
