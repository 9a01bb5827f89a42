import { randomUUID } from 'node:crypto';
import {
  closeOpenItems,
  type ErrorObject,
  type EventPayload,
  type ExportedSession,
  type ExportHeader,
  foldResponse,
  type ImportResult,
  maxItemSize,
  type Response,
  resumeResponse,
  stampEvent,
  type StreamEvent,
  toResponse,
  withinSize,
} from '@liminal/protocol';
import type { ResponseStore, SessionRecord } from '@liminal/storage';
import { errors } from '../errors.ts';
import { sessionName } from '../session/index.ts';
import { checkedParts } from './checked-parts.ts';
import type { ExportStorage } from './export-session.ts';

export interface ImportOptions {
  /** Whether the id is taken by a session that is only in an agent's own store. */
  isTaken: (sessionId: string) => Promise<boolean>;
  /** Ids of the imports that are running on this server; each import adds its own id. */
  underWay: Set<string>;
}

const exportedEarly: ErrorObject = {
  code: 'EXPORTED_EARLY',
  message: 'The session was exported while this turn ran. Everything up to then is here.',
};

/**
 * Imports a session's file into the store: either the whole file or nothing. The session keeps its ids unless this
 * store already uses them. If the session of an earlier import of the same file still exists, the file is not imported
 * again. Throws `EXPORT_UNREADABLE`, and the stores' errors.
 */
export async function importSession(
  storage: ExportStorage,
  file: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<{ result: ImportResult; record: SessionRecord }> {
  const parts = checkedParts(file);
  const header = (await parts.next()).value;
  const session = (await parts.next()).value;
  if (header?.type !== 'header' || session?.type !== 'session')
    throw errors.EXPORT_UNREADABLE.cutOff();
  const known = await findEarlierImport(storage.store, header.header, session.session);
  if (known) {
    // The file is read to its end, so that the sender gets an error if the file is damaged.
    let runs = 0;
    for await (const { type } of parts) if (type === 'run') runs += 1;
    return { result: { ...importSummary(known), runs, wasThere: true }, record: known };
  }
  const sessionId = await freeId(storage, session.session.sessionId, options);
  options.underWay.add(sessionId);
  try {
    const runs = await new Import(storage, sessionId, session.session).take(parts);
    const record = importedRecord(header.header, session.session, sessionId);
    // The session is stored last: until then no part of it is visible.
    await storage.store.saveSession(record);
    return { result: { ...importSummary(record), runs, wasThere: false }, record };
  } catch (error) {
    await storage.store.deleteSession(sessionId);
    throw error;
  } finally {
    options.underWay.delete(sessionId);
  }
}

class Import {
  readonly #storage: ExportStorage;
  readonly #sessionId: string;
  /** Whether the session keeps the id that it has in the file. */
  readonly #reusesIds: boolean;
  /** The new ids of runs and turns, by their ids in the file. */
  readonly #ids = new Map<string, string>();

  constructor(storage: ExportStorage, sessionId: string, session: ExportedSession) {
    this.#storage = storage;
    this.#sessionId = sessionId;
    this.#reusesIds = sessionId === session.sessionId;
  }

  /** Stores all parts; resolves with the number of runs. */
  async take(parts: ReturnType<typeof checkedParts>): Promise<number> {
    const { store, blobs } = this.#storage;
    let [runs, hasEnd] = [0, false];
    for await (const part of parts) {
      if (part.type === 'blob') {
        await blobs.put(part.bytes, { mimeType: part.mimeType, sessionId: this.#sessionId });
      } else if (part.type === 'run') {
        runs += 1;
        const run = await this.#withNewIds(part.run);
        await store.saveResponse(run);
        // The events of a run that was open in the file are incomplete.
        if (part.events && run.lastSeq === part.run.lastSeq)
          await this.#archiveEvents(run, part.events);
      } else hasEnd = part.type === 'end';
    }
    if (!hasEnd) throw errors.EXPORT_UNREADABLE.cutOff();
    return runs;
  }

  /** Returns a run under its new ids, and ended: an imported run never continues. */
  async #withNewIds(run: Response): Promise<Response> {
    const outputItems = run.outputItems.map((item) => withinSize(item, maxItemSize));
    const id = await this.#idOf(run.id);
    const turnId = run.turnId === run.id ? id : await this.#idOf(run.turnId);
    const { rewoundTo } = run;
    const rewound = rewoundTo !== undefined && { rewoundTo: await this.#idOf(rewoundTo) };
    return withEnd({ ...run, outputItems, id, turnId, sessionId: this.#sessionId, ...rewound });
  }

  /**
   * Archives the events even if this server's settings do not ask for an archive: the file contains the events, and an
   * import must not lose any data.
   */
  async #archiveEvents(run: Response, events: readonly StreamEvent[]): Promise<void> {
    const { id: runId, sessionId, turnId, rewoundTo } = run;
    const own = (payload: EventPayload): EventPayload =>
      'rewoundTo' in payload && rewoundTo !== undefined ? { ...payload, rewoundTo } : payload;
    await this.#storage.eventArchive?.store(
      runId,
      events.map(({ timestamp, payload, traceContext, seq }) => {
        const draft = { turnId, timestamp, payload: own(payload) };
        return stampEvent(draft, { sessionId, runId, traceContext }, seq);
      }),
    );
  }

  /**
   * Returns the new id for an id in the file. If a run of another session already has the id, the new id is random, so
   * that the other run is not overwritten.
   */
  async #idOf(id: string): Promise<string> {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const isFree = this.#reusesIds && (await this.#isFree(id));
    const own = isFree ? id : randomUUID();
    this.#ids.set(id, own);
    return own;
  }

  async #isFree(runId: string): Promise<boolean> {
    const [logged] = await this.#storage.log.read(runId, { limit: 1 });
    const stored = await this.#storage.store.getResponse(runId);
    // Data that an interrupted import left behind belongs to this import.
    return logged === undefined && (!stored || stored.sessionId === this.#sessionId);
  }
}

function withEnd(run: Response): Response {
  if (run.status !== 'in_progress' && run.status !== 'queued') return run;
  const state = resumeResponse({ ...run, status: 'in_progress' });
  const payloads: EventPayload[] = [
    ...closeOpenItems(state, { status: 'error', error: exportedEarly }),
    { type: 'response_error', error: exportedEarly },
  ];
  const timestamp = new Date(run.updatedAt).toISOString();
  const { id: runId, sessionId, turnId, traceContext = { traceparent: '' } } = run;
  const events = payloads.map((payload, index) =>
    stampEvent(
      { turnId, timestamp, payload },
      { runId, sessionId, traceContext },
      run.lastSeq + 1 + index,
    ),
  );
  return toResponse(events.reduce(foldResponse, state)) ?? run;
}

/** Returns the session that was imported from the same file, if this store still has it. */
async function findEarlierImport(
  store: ResponseStore,
  { exportedAt }: ExportHeader,
  { sessionId }: ExportedSession,
): Promise<SessionRecord | undefined> {
  const records = await store.listSessions();
  return records.find(
    ({ importedFrom }) =>
      importedFrom?.sessionId === sessionId && importedFrom.exportedAt === exportedAt,
  );
}

async function freeId(
  { store }: ExportStorage,
  sessionId: string,
  { isTaken, underWay }: ImportOptions,
): Promise<string> {
  const isHere =
    underWay.has(sessionId) ||
    (await store.getSession(sessionId)) !== undefined ||
    (await store.findDeleted([sessionId])).length > 0 ||
    (await isTaken(sessionId));
  return isHere || underWay.has(sessionId) ? randomUUID() : sessionId;
}

function importedRecord(
  { exportedAt }: ExportHeader,
  session: ExportedSession,
  sessionId: string,
): SessionRecord {
  const { cliType, projectId, projectDir, title, createdAt, updatedAt } = session;
  const { failed = false, forkedFrom } = session;
  return {
    sessionId,
    cliType,
    projectId,
    projectDir,
    title,
    createdAt,
    updatedAt,
    failed,
    ...(forkedFrom && { forkedFrom }),
    importedFrom: { sessionId: session.sessionId, exportedAt },
    active: false,
    config: {},
    queue: [],
    imported: true,
    fence: 0,
  };
}

function importSummary(
  record: SessionRecord,
): Pick<ImportResult, 'sessionId' | 'cliType' | 'title'> {
  return { sessionId: record.sessionId, cliType: record.cliType, title: sessionName(record) };
}
