/**
 * Reads stored JSON and checks it against its schema. If a value was damaged, by the disk or by hand, the value is
 * replaced by an item that reports the damage, so that the other values can still be read. A valid value is returned as
 * stored, including fields that the schema does not have.
 */
import { Grant, OutputItem } from '@liminal/protocol';
import type { z } from 'zod';
import { errors } from '../errors.ts';
import { LastKnown, ResponseHead, SessionRecord } from '../response-store.ts';

const damaged = {
  code: 'STORE_DAMAGED',
  message: 'The stored data of this item is damaged.',
};

/**
 * Fields with numbers that agents choose; earlier versions stored these numbers unchecked. Invalid numbers are dropped,
 * because the rest of the value can be read without them.
 */
const droppableFields = new Set([
  'locations',
  'exitCode',
  'blocks',
  'asked',
  'earlier',
  'form',
  'usage',
]);

/** Reads an item. A damaged item is replaced by an error item. `place` must be unique in the item's run. */
export function readItem(json: string, place: number | string): OutputItem {
  const item = readWithoutDroppable(OutputItem, json);
  return item ?? { type: 'error', id: `damaged:${place}`, origin: 'system', ...damaged };
}

/** Reads a head; a damaged one becomes a failed run. @param run - The ids under which the head is stored. */
export function readHead(json: string, run: { runId: string; sessionId: string }): ResponseHead {
  const { runId, sessionId } = run;
  const head = readIntactHead(json);
  const isOther = runId !== '' && head?.id !== runId;
  return head && !isOther && (sessionId === '' || head.sessionId === sessionId)
    ? head
    : {
        id: runId,
        // The first run of a turn has the same id.
        turnId: runId,
        sessionId,
        modelId: 'unknown',
        providerId: 'unknown',
        createdAt: 0,
        updatedAt: 0,
        status: 'error',
        finishReason: null,
        error: damaged,
        lastSeq: -1,
      };
}

/** Reads a head; undefined if it is damaged. */
export function readIntactHead(json: string): ResponseHead | undefined {
  return readWithoutDroppable(ResponseHead, json);
}

/**
 * Reads a session's record; undefined if it is damaged, because its session is then unknown.
 * @param sessionId - The id under which the record is stored, if the caller knows it.
 */
export function readSession(json: string, sessionId?: string): SessionRecord | undefined {
  const record = readAs(SessionRecord, json);
  if (record === undefined) return undefined;
  if (!isOf(LastKnown.optional(), record.lastKnown)) delete record.lastKnown;
  return sessionId === undefined || record.sessionId === sessionId ? record : undefined;
}

/**
 * Throws StorageError `STORE_READ_FAILED` if a session's stored record is damaged, because a damaged record must not be
 * overwritten.
 */
export function refuseDamaged(sessionId: string, json: string | undefined): void {
  if (json === undefined || readSession(json, sessionId) !== undefined) return;
  throw errors.STORE_READ_FAILED.session(damagedSession(sessionId));
}

export const damagedSession = (sessionId: string): string =>
  `The session ${sessionId} cannot be read: its stored data is damaged.`;

/** Reads a grant. Returns undefined if the grant is damaged; users are then asked for the permission again. */
export function readGrant(json: string): Grant | undefined {
  return readAs(Grant, json);
}

/** Returns the stored value unchanged; undefined if it does not match the schema. */
export function readAs<T>(schema: z.ZodType<T>, json: string): T | undefined {
  const value = parseObject(json);
  return value !== undefined && isOf(schema, value) ? value : undefined;
}

/**
 * Returns the stored value. If the value does not match the schema, leaves out the droppable fields that do not match.
 */
function readWithoutDroppable<T>(schema: z.ZodType<T>, json: string): T | undefined {
  const value = parseObject(json);
  if (value === undefined) return undefined;
  const { error, success } = schema.safeParse(value);
  if (success) return value as T;
  const wrong = new Set(error.issues.map(({ path }) => String(path[0])));
  if (![...wrong].every((name) => droppableFields.has(name))) return undefined;
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.has(name)));
  return isOf(schema, rest) ? rest : undefined;
}

export function isOf<T>(schema: z.ZodType<T>, value: unknown): value is T {
  return schema.safeParse(value).success;
}

/** Parses an object; undefined for any other text. */
export function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
