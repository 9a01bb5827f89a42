import { basename } from 'node:path';
import {
  type ContentBlock,
  headOf,
  type QueuedMessage,
  type SessionSummary,
} from '@liminal/protocol';
import type { ResponseStore, SessionRecord } from '@liminal/storage';

/** How many characters of a first message become a session's title. */
const titleMax = 80;

/** The fields that a new record needs. */
export type NewRecord = Pick<
  SessionRecord,
  | 'sessionId'
  | 'cliType'
  | 'projectId'
  | 'projectDir'
  | 'title'
  | 'createdAt'
  | 'updatedAt'
  | 'config'
  | 'fence'
> &
  Pick<
    Partial<SessionRecord>,
    'agentSessionId' | 'forkedFrom' | 'additionalDirectories' | 'lastKnown'
  >;

export function newRecord(start: NewRecord): SessionRecord {
  return { ...start, active: true, failed: false, queue: [], imported: true };
}

/** One session's record, in memory and in the store. Changes are stored in the order in which they are made. */
export class SessionRecordHolder {
  readonly #store: ResponseStore;
  readonly #onChange: () => void;
  readonly #onTrouble: (error: unknown) => void;
  #value: SessionRecord;
  #saving: Promise<void> = Promise.resolve();

  constructor(
    value: SessionRecord,
    store: ResponseStore,
    onChange: () => void,
    onTrouble: (error: unknown) => void,
  ) {
    this.#value = value;
    this.#store = store;
    this.#onChange = onChange;
    this.#onTrouble = onTrouble;
  }

  get value(): SessionRecord {
    return this.#value;
  }

  /** Changes the record at once; resolves when the change is stored. */
  async update(change: Partial<SessionRecord>): Promise<void> {
    this.#value = { ...this.#value, ...change };
    this.#onChange();
    const save = this.#saving.then(async () => this.#store.saveSession(this.#value));
    this.#saving = save.catch(this.#onTrouble);
    await save;
  }

  /** Changes the record like `update`. If storing fails, applies `undo` to the record's value at that time. */
  async change(
    change: Partial<SessionRecord>,
    undo: (now: SessionRecord) => Partial<SessionRecord>,
  ): Promise<void> {
    try {
      await this.update(change);
    } catch (error) {
      this.tryUpdate(undo(this.#value));
      throw error;
    }
  }

  /** Changes the record for a fact that is true even if the change cannot be stored: an error is only logged. */
  tryUpdate(change: Partial<SessionRecord>): void {
    this.update(change).catch(() => undefined);
  }

  /** Resolves when all changes are stored. */
  async saved(): Promise<void> {
    await this.#saving;
  }
}

/** The summary of a stored session that is not running. */
export function summarize(record: SessionRecord): SessionSummary {
  const { sessionId, cliType, projectId, projectDir, createdAt, updatedAt, active } = record;
  const { forkedFrom, importedFrom, additionalDirectories = [] } = record;
  const { model = record.config['model'] } = record.lastKnown?.values ?? {};
  const costUsd = record.lastKnown?.usage?.costUsd;
  const resting = record.failed ? 'failed' : 'idle';
  return {
    sessionId,
    cliType,
    projectId,
    projectDir,
    title: sessionName(record),
    createdAt,
    updatedAt,
    active,
    state: record.queue.length > 0 ? 'queued' : resting,
    isAlive: false,
    source: 'liminal',
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
    ...(model !== undefined && model !== '' && { model }),
    ...(costUsd !== undefined && { costUsd }),
    ...(forkedFrom && { forkedFrom }),
    ...(importedFrom && { importedFrom }),
    ...(record.failed && record.interrupted === true && { interrupted: true }),
    ...(record.queuePaused === true && record.queue.length > 0 && { queuePaused: true }),
    ...(record.title === '' && { empty: true }),
    ...(record.archived === true && { archived: true }),
    ...(record.pinned === true && { pinned: true }),
  };
}

/** Returns a session's name for users. A session without a message has no title yet. */
export function sessionName({
  title,
  projectDir,
}: Pick<SessionRecord, 'title' | 'projectDir'>): string {
  return title === '' ? `New session in ${basename(projectDir) || projectDir}` : title;
}

/** A title from a session's first message; if the message has no text, the name of its first attachment. */
export function titleFromMessage({
  message,
  blocks,
}: Pick<QueuedMessage, 'message' | 'blocks'>): string {
  const line = message.trim().split('\n', 1)[0] || attachmentName(blocks?.[0]);
  return line.length > titleMax ? `${headOf(line, titleMax - 1).trimEnd()}…` : line;
}

function attachmentName(block: ContentBlock | undefined): string {
  if (block === undefined) return '';
  const name = block.type === 'resource' ? block.resource.name : block.name;
  return (
    name ?? { image: 'Image', audio: 'Audio', resource: 'File', resource_link: 'File' }[block.type]
  );
}
