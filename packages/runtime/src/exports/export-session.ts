import { createHash } from 'node:crypto';
import {
  blobIn,
  type ContentBlock,
  emptyResponse,
  exportFormatVersion,
  type ExportedSession,
  type ExportHeader,
  type ExportLine,
  foldResponse,
  Redactor,
  type ReplacedBlob,
  type Response,
  type StreamEvent,
  toResponse,
} from '@liminal/protocol';
import {
  type BlobStore,
  type EventArchive,
  type EventLog,
  yieldToEventLoop,
  type ResponseStore,
  type SessionRecord,
} from '@liminal/storage';
import { errors } from '../errors.ts';
import { decodeText } from '../blobs/index.ts';
import { readRun } from '../history/index.ts';

export interface ExportStorage {
  log: EventLog;
  store: ResponseStore;
  blobs: BlobStore;
  eventArchive?: EventArchive;
}

export interface ExportOptions {
  versions: ExportHeader['versions'];
  /** Secrets of this server, which are removed everywhere. */
  secrets: readonly string[];
  /** The current time, ISO 8601 UTC. */
  exportedAt: string;
}

/** Lines are combined into pieces of about this many characters. */
const pieceMax = 64 * 1024;

/**
 * Returns the text of a session's file, in pieces; only one run at a time is in memory. Throws `SESSION_NOT_FOUND`
 * before the first piece. If a later read fails, the text ends without its last line, which shows that the file is
 * incomplete.
 */
export async function exportSession(
  storage: ExportStorage,
  sessionId: string,
  options: ExportOptions,
): Promise<AsyncIterable<string>> {
  const record = await storage.store.getSession(sessionId);
  if (!record) {
    throw errors.SESSION_NOT_FOUND.unknown(sessionId);
  }
  return inPieces(new Export(storage, record, options).lines());
}

class Export {
  readonly #storage: ExportStorage;
  readonly #record: SessionRecord;
  readonly #options: ExportOptions;
  readonly #redactor: Redactor;
  /**
   * Maps the stored hashes of blobs to the blobs in the file, if their content differs because secrets were removed.
   */
  readonly #replaced = new Map<string, ReplacedBlob>();
  /** The hashes of blobs that were checked. */
  readonly #seen = new Set<string>();
  #blobs = 0;
  #runs = 0;

  constructor(storage: ExportStorage, record: SessionRecord, options: ExportOptions) {
    this.#storage = storage;
    this.#record = record;
    this.#options = options;
    this.#redactor = new Redactor(options.secrets, this.#replaced);
  }

  async *lines(): AsyncGenerator<ExportHeader | ExportLine, void> {
    const { exportedAt, versions } = this.#options;
    yield { liminal: 'export', version: exportFormatVersion, exportedAt, versions };
    yield this.#redactor.value(sessionLine(this.#record));
    for (const runId of await this.#runIds()) yield* this.#run(runId);
    const [runs, blobs, secrets] = [this.#runs, this.#blobs, this.#redactor.counts];
    yield { type: 'end', runs, blobs, secrets };
  }

  /** Oldest first; runs that history does not have yet come last. */
  async #runIds(): Promise<Set<string>> {
    const { log, store } = this.#storage;
    const { sessionId } = this.#record;
    // Reads the log first: a run that moves into history in the meantime is then in both.
    const open = (await log.unsettled()).filter((run) => run.sessionId === sessionId);
    const stored = (await store.listRuns(sessionId)) ?? [];
    return new Set([...stored.map(({ id }) => id), ...open.map(({ runId }) => runId)]);
  }

  async *#run(runId: string): AsyncGenerator<ExportLine, void> {
    const { run, events } = await readWholeRun(this.#storage, runId);
    if (!run) return;
    for (const hash of blobsOf(run, events ?? [])) yield* this.#blob(hash);
    const { outputItems, ...head } = await inSteps(this.#redactor.responseInSteps(run));
    this.#runs += 1;
    const counts = { items: outputItems.length, ...(events && { events: events.length }) };
    yield { type: 'run', ...counts, run: head };
    for (const item of outputItems) yield { type: 'item', item };
    if (!events) return;
    for (const { timestamp, payload } of await inSteps(this.#redactor.eventsInSteps(events))) {
      yield { type: 'event', timestamp, payload };
    }
  }

  /**
   * Yields the line of a blob. A blob that is no longer stored is left out: the file then refers to a missing blob, as
   * the session does.
   */
  async *#blob(hash: string): AsyncGenerator<ExportLine, void> {
    if (this.#seen.has(hash)) return;
    this.#seen.add(hash);
    const blob = await this.#storage.blobs.get(hash);
    if (!blob) return;
    const bytes = await this.#redacted(blob);
    const now = bytes === blob.bytes ? hash : createHash('sha256').update(bytes).digest('hex');
    if (now !== hash) this.#replaced.set(hash, { hash: now, size: bytes.length });
    this.#blobs += 1;
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    yield { type: 'blob', hash: now, mimeType: blob.mimeType, data };
  }

  async #redacted({
    bytes,
    mimeType,
  }: {
    bytes: Uint8Array;
    mimeType: string;
  }): Promise<Uint8Array> {
    const text = decodeText({ mimeType }, bytes);
    if (text === undefined) return bytes;
    const redacted = await inSteps(this.#redactor.textInSteps(text));
    return redacted === text ? bytes : Buffer.from(redacted);
  }
}

/** Lets other tasks run after each step, and at the end. */
async function inSteps<T>(steps: Generator<void, T, void>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    await yieldToEventLoop();
    if (done === true) return value;
  }
}

function sessionLine(record: SessionRecord): ExportedSession {
  const { sessionId, cliType, projectId, projectDir, title } = record;
  const { createdAt, updatedAt, failed, forkedFrom } = record;
  return {
    type: 'session',
    sessionId,
    cliType,
    projectId,
    projectDir,
    title,
    createdAt,
    updatedAt,
    ...(failed && { failed }),
    ...(forkedFrom && { forkedFrom }),
  };
}

/** Returns a run in its current state. If the log or the archive has all events of the run, includes the events. */
async function readWholeRun(
  { log, store, eventArchive: archive }: ExportStorage,
  runId: string,
): Promise<{ run: Response | undefined; events?: StreamEvent[] }> {
  const logged = completeRun(await log.read(runId));
  if (logged) return logged;
  const run = toResponse(await readRun({ log, store }, runId));
  const archived = completeRun((await archive?.read(runId)) ?? []);
  // If the log has lost events that history has, the events are incomplete.
  return archived && archived.run.lastSeq === run?.lastSeq
    ? { run, events: archived.events }
    : { run };
}

/** Events and the run that they fold to; undefined if events are missing, or there are none. */
function completeRun(events: StreamEvent[]): { run: Response; events: StreamEvent[] } | undefined {
  if (events.length === 0 || !events.every(({ seq }, index) => seq === index)) return undefined;
  const run = toResponse(events.reduce(foldResponse, emptyResponse()));
  return run && { run, events };
}

function blobsOf({ outputItems }: Response, events: readonly StreamEvent[]): Set<string> {
  const blocks: ContentBlock[] = [
    ...outputItems.flatMap((item) => ('blocks' in item && item.blocks) || []),
    ...events.flatMap(({ payload }) => {
      if (payload.type === 'item_delta') return payload.patch?.blocks ?? [];
      if (payload.type !== 'item_done') return [];
      return ('blocks' in payload.finalItem && payload.finalItem.blocks) || [];
    }),
  ];
  return new Set(blocks.flatMap((block) => blobIn(block) ?? []));
}

async function* inPieces(lines: AsyncIterable<object>): AsyncGenerator<string, void> {
  let piece = '';
  for await (const line of lines) {
    piece += `${JSON.stringify(line)}\n`;
    if (piece.length < pieceMax) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
