/**
 * Reads stored JSON and checks it by its schema. A damaged value (by the disk, or by hand) is replaced by an item that says
 * so: the rest can still be read and shown. A valid value is returned as stored, with fields that the schema lacks.
 */
import { Grant, OutputItem } from '@liminal/protocol';
import type { z } from 'zod';
import { StorageError } from '../errors.ts';
import { LastKnown, ResponseHead, SessionRecord } from '../response-store.ts';

const damaged = {
  code: 'STORE_DAMAGED',
  message: 'What stood here cannot be read any more: the stored data is damaged.',
};

/**
 * Fields with numbers that agents choose, which earlier versions stored as they came. The rest can be read without them.
 */
const numbered = new Set(['locations', 'exitCode', 'blocks', 'asked', 'earlier', 'form', 'usage']);

/** `place` must be unique in its run. */
export function readItem(json: string, place: number | string): OutputItem {
  const item = readWithoutNumbered(OutputItem, json);
  return item ?? { type: 'error', id: `damaged:${place}`, origin: 'system', ...damaged };
}

/** @param run - The ids under which it is stored, where the caller knows them. */
export function readHead(json: string, run: { runId: string; sessionId: string }): ResponseHead {
  const { runId, sessionId } = run;
  const head = readWholeHead(json);
  const isOther = runId !== '' && head?.id !== runId;
  return head && !isOther && (sessionId === '' || head.sessionId === sessionId)
    ? head
    : {
        id: runId,
        // The first run of a turn shares its id.
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

/** Undefined if it is damaged. */
export function readWholeHead(json: string): ResponseHead | undefined {
  return readWithoutNumbered(ResponseHead, json);
}

/**
 * Undefined if it is damaged: its session is unknown then.
 * @param sessionId - The id under which it is stored, where the caller knows it.
 */
export function readSession(json: string, sessionId?: string): SessionRecord | undefined {
  const record = readAs(SessionRecord, json);
  if (record === undefined) return undefined;
  if (!isOf(LastKnown.optional(), record.lastKnown)) delete record.lastKnown;
  return sessionId === undefined || record.sessionId === sessionId ? record : undefined;
}

/** Throws StorageError `STORE_READ_FAILED` if the record stored for a session is damaged: nobody may write over it. */
export function refuseDamaged(sessionId: string, json: string | undefined): void {
  if (json === undefined || readSession(json, sessionId) !== undefined) return;
  throw new StorageError('STORE_READ_FAILED', `${damagedSession(sessionId)} It is left as it is.`);
}

export const damagedSession = (sessionId: string): string =>
  `The session ${sessionId} cannot be read: what is stored of it is damaged.`;

/** Undefined if it is damaged: people are then asked again. */
export function readGrant(json: string): Grant | undefined {
  return readAs(Grant, json);
}

/** The stored value, as it is; undefined if it is not of the schema. */
export function readAs<T>(schema: z.ZodType<T>, json: string): T | undefined {
  const value = parsed(json);
  return value !== undefined && isOf(schema, value) ? value : undefined;
}

/** The stored value, without those of the numbered fields that are not of the schema. */
function readWithoutNumbered<T>(schema: z.ZodType<T>, json: string): T | undefined {
  const value = parsed(json);
  if (value === undefined) return undefined;
  const { error, success } = schema.safeParse(value);
  if (success) return value as T;
  const wrong = new Set(error.issues.map(({ path }) => String(path[0])));
  if (![...wrong].every((name) => numbered.has(name))) return undefined;
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.has(name)));
  return isOf(schema, rest) ? rest : undefined;
}

export function isOf<T>(schema: z.ZodType<T>, value: unknown): value is T {
  return schema.safeParse(value).success;
}

/** An object; undefined for any other text. */
export function parsed(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
