import type { Response, StreamEvent, UpsertObject } from '@liminal/protocol';
import {
  emptyResponse,
  foldResponse,
  isTerminal,
  responseToUpserts,
  toResponse,
} from '@liminal/protocol';
import { naiveTurn, naiveViews } from '@liminal/protocol/testing';
import { expect } from 'vitest';

/** Checks invariants 1 to 3 for a run that is over. */
export function checkRun(run: readonly StreamEvent[]): void {
  expect(run.map((event) => event.seq)).toEqual(run.map((_, index) => index));
  expect(run.filter(isTerminal)).toEqual(run.slice(-1));
  const openAtEnd = new Set<string>();
  const ended = new Set<string>();
  for (const { payload } of run) {
    if (!('itemId' in payload) || payload.type === 'item_delta') continue;
    const starts = payload.type === 'item_start' || payload.type === 'script_execution_start';
    // Only the first start of an item counts: its later starts do not open it again.
    if (!starts) openAtEnd.delete(payload.itemId);
    else if (!ended.has(payload.itemId)) openAtEnd.add(payload.itemId);
    if (!starts) ended.add(payload.itemId);
  }
  expect(openAtEnd).toEqual(new Set());
}

/** The run that history must have: its log, folded from scratch. */
export function storedOf(run: readonly StreamEvent[]): Response | undefined {
  return toResponse(run.reduce(foldResponse, emptyResponse()));
}

/** The items that every reader must have of ended runs: their logs, folded from scratch. */
export function shownOf(runs: readonly StreamEvent[][]): UpsertObject[] {
  const shown = runs.flatMap((run) => {
    const response = storedOf(run);
    return response ? responseToUpserts(response, '') : [];
  });
  // Checked against a second fold, which was written independently of the first.
  const naive = runs.flatMap((run) => [...naiveViews(naiveTurn(run))]);
  expect(new Map(shown.map((upsert) => [upsert.itemId, summaryOf(upsert)]))).toEqual(
    new Map(naive.map(([id, { type, status, text }]) => [id, { type, status, text }])),
  );
  return timeless(shown);
}

/** The items sorted by id, without their times. */
export function timeless(items: Iterable<UpsertObject>): UpsertObject[] {
  return Array.from(items, (item) => ({ ...item, emittedAt: '', sourceTimestamp: '' })).toSorted(
    (a, b) => a.itemId.localeCompare(b.itemId),
  );
}

function summaryOf(upsert: UpsertObject): { type: string; status: string; text: string } {
  const { type, status } = upsert;
  return { type, status, text: textOf(upsert) };
}

function textOf(upsert: UpsertObject): string {
  if (upsert.type === 'message' || upsert.type === 'thinking') return upsert.content;
  return upsert.type === 'tool_call' ? (upsert.toolOutput ?? '') : '';
}
