/**
 * Reads stored JSON. Damaged JSON (by the disk, or by hand) is replaced by an item that says so: the rest can still be
 * read and shown.
 */
import type { Grant, OutputItem } from '@liminal/protocol';
import type { ResponseHead, SessionRecord } from '../response-store.ts';

const damaged = {
  code: 'STORE_DAMAGED',
  message: 'What stood here cannot be read any more: the stored data is damaged.',
};

/** `place` must be unique in its run. */
export function readItem(json: string, place: number | string): OutputItem {
  const item = parsed(json) as OutputItem | undefined;
  return item ?? { type: 'error', id: `damaged:${place}`, origin: 'system', ...damaged };
}

export function readHead(json: string, run: { runId: string; sessionId: string }): ResponseHead {
  const { runId, sessionId } = run;
  const head = parsed(json) as ResponseHead | undefined;
  return (
    head ?? {
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
    }
  );
}

/** Undefined if it is damaged: its session is unknown then. */
export function readSession(json: string): SessionRecord | undefined {
  return parsed(json) as SessionRecord | undefined;
}

/** Undefined if it is damaged: people are then asked again. */
export function readGrant(json: string): Grant | undefined {
  return parsed(json) as Grant | undefined;
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
