/** A session's file as something to play: its events on one line of time, and the session's view after each of them. */
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

/** A turn of the file. */
export interface RecordedRun {
  run: Response;
  /** Its events were not in the file: these are made from the finished turn. */
  isRebuilt: boolean;
  /** The places of its first and last event in the recording. */
  from: number;
  to: number;
}

/** An event in the recording. */
export interface Step {
  event: StreamEvent;
  /** Index of its run. */
  run: number;
  /** ms since the epoch; never before the step before. */
  at: number;
}

export interface Recording {
  header: ExportHeader;
  session: ExportedSession;
  runs: readonly RecordedRun[];
  steps: readonly Step[];
}

/** Throws LiminalError `EXPORT_UNREADABLE`. */
export async function readRecording(text: AsyncIterable<string>): Promise<Recording> {
  let header: ExportHeader | undefined;
  let session: ExportedSession | undefined;
  const runs: RecordedRun[] = [];
  const steps: Step[] = [];
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
  // A file that was read to its end has both.
  if (!header || !session) throw new Error('The file has no header.');
  return { header, session, runs, steps };
}

/** For a page that shows the whole turn, not only what the recording has come to. */
export function spansOf({ run }: RecordedRun): Span[] {
  return runSpans(run);
}

/** The state after some steps. Immutable, as all that it holds. */
interface Shown {
  view: SessionView;
  fold: UpsertFoldState;
}

/** Steps between two states that are kept: what a jump folds at most. */
const KEPT_EVERY = 256;

/** What the page shows after each step: as a live page would, by the same folds. */
export class Player {
  readonly recording: Recording;
  /** States after 0, `KEPT_EVERY`, … steps, as far as was played. */
  readonly #kept: Shown[];
  #last: { count: number; shown: Shown };

  constructor(recording: Recording) {
    this.recording = recording;
    const begin = { view: firstView(recording), fold: startUpsertFold({ appends: true }) };
    this.#kept = [begin];
    this.#last = { count: 0, shown: begin };
  }

  /** The session after its first `count` steps. */
  viewAfter(count: number): SessionView {
    this.#last = { count, shown: this.#foldOn(this.#nearest(count), count) };
    return this.#last.shown.view;
  }

  /** Folds on past all that was played, for some ms, so that a jump there is quick. Returns whether there is more. */
  prepare(forMs: number): boolean {
    const until = performance.now() + forMs;
    for (;;) {
      const count = (this.#kept.length - 1) * KEPT_EVERY;
      const shown = this.#kept.at(-1);
      const isOver = count + KEPT_EVERY > this.recording.steps.length;
      if (shown === undefined || isOver) return false;
      if (performance.now() >= until) return true;
      this.#foldOn({ count, shown }, count + KEPT_EVERY);
    }
  }

  /** The state after `to` steps, from one before; keeps states on the way. */
  #foldOn({ count, shown: from }: { count: number; shown: Shown }, to: number): Shown {
    let shown = from;
    for (let at = count; at < to; at += 1) {
      shown = this.#step(shown, at);
      if ((at + 1) % KEPT_EVERY === 0) this.#kept[(at + 1) / KEPT_EVERY] ??= shown;
    }
    return shown;
  }

  #nearest(count: number): { count: number; shown: Shown } {
    const index = Math.min(Math.floor(count / KEPT_EVERY), this.#kept.length - 1);
    const kept = { count: index * KEPT_EVERY, shown: this.#kept[index] };
    const isLastNearer = this.#last.count <= count && this.#last.count >= kept.count;
    return isLastNearer || kept.shown === undefined
      ? this.#last
      : { count: kept.count, shown: kept.shown };
  }

  #step({ view, fold }: Shown, index: number): Shown {
    const step = this.recording.steps[index];
    if (!step) return { view, fold };
    const isFirst = this.recording.runs[step.run]?.from === index;
    const before = isFirst ? startUpsertFold({ appends: true }) : fold;
    const { state, outputs } = foldUpsert(before, step.event, step.at);
    const messages = outputs.map((output) => messageOf(output, view.sessionId));
    return {
      view: messages.reduce((shown, message) => applyMessage(shown, message, step.at), view),
      fold: state,
    };
  }
}

/** As a server sends it; nobody comes back to a recording with a cursor. */
function messageOf(output: FoldOutput, sessionId: string): ServerMessage {
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
