import type { OutputItem, Response } from '@liminal/protocol';
import type { FunctionArgs, FunctionReturnType } from 'convex/server';
import {
  callItemsMax,
  type CallsWanted,
  type ItemPage,
  type ItemsWanted,
  ResponseHead,
  type StoredItem,
} from '../response-store.ts';
import { callKeyHash } from '../store/call-hash.ts';
import type { PageRun } from '../store/item-page.ts';
import { pageOfItems } from '../store/item-page.ts';
import { readHead, readItem, readIntactHead } from '../store/stored-json.ts';
import { idOfTextKey, textKey } from '../store/text-key.ts';
import { api, type Deployment } from './deployment.ts';

type ItemRange = FunctionArgs<typeof api.history.items>['ranges'][number];

export async function readResponse(
  deployment: Deployment,
  runId: string,
): Promise<Response | undefined> {
  const found = await deployment.query(api.history.head, { runId: textKey(runId) });
  if (!found) return undefined;
  const items: OutputItem[] = [];
  for await (const { item } of itemsIn(deployment, [found.items])) items.push(item);
  return { ...readHead(found.head, { runId, sessionId: '' }), outputItems: items.reverse() };
}

export async function listRuns(
  deployment: Deployment,
  sessionId: string,
  fromRunId: string | undefined,
): Promise<ResponseHead[] | undefined> {
  const heads: string[] = [];
  let from = fromRunId === undefined ? undefined : textKey(fromRunId);
  for (;;) {
    const threadId = textKey(sessionId);
    const found = await deployment.query(api.history.runs, {
      threadId,
      ...(from !== undefined && { fromRunId: from }),
    });
    if (!found) return undefined;
    heads.push(...found.heads);
    if (found.next === null) return heads.flatMap((head) => readIntactHead(head) ?? []);
    from = found.next;
  }
}

export async function readItems(
  deployment: Deployment,
  sessionId: string,
  wanted: ItemsWanted,
): Promise<ItemPage> {
  const runs = await runsBefore(deployment, sessionId, wanted);
  const items: StoredItem[] = [];
  const ranges = newestRanges(runs, wanted.limit);
  for await (const item of itemsIn(deployment, ranges, wanted.size)) items.push(item);
  const { heads, hasMore } = pageOfItems(runs.map(pageRun), { limit: items.length });
  return {
    items: items.toReversed(),
    heads: heads.flatMap((head) => readIntactHead(head) ?? []),
    hasMore,
  };
}

/**
 * Returns the items with the wanted call keys, in the order of the run. For each key, returns only the nearest items.
 */
export async function readCalls(
  deployment: Deployment,
  { runId, keys, side, index }: CallsWanted,
): Promise<StoredItem[]> {
  const ranges: ItemRange[] = [];
  for (let hashes = keys.map(callKeyHash); hashes.length > 0;) {
    const found: FunctionReturnType<typeof api.history.calls> = await deployment.query(
      api.history.calls,
      { runId: textKey(runId), hashes, side, index, most: callItemsMax },
    );
    ranges.push(...found.ranges);
    hashes = found.rest;
  }
  const items: StoredItem[] = [];
  for await (const item of itemsIn(deployment, ranges)) items.push(item);
  return items.toSorted((a, b) => a.index - b.index);
}

type PagedRun = FunctionReturnType<typeof api.history.page>['runs'][number];

/**
 * Returns the runs that a page may need, newest first, and one further run. The further run shows whether there are
 * older runs.
 */
async function runsBefore(
  deployment: Deployment,
  sessionId: string,
  { before, limit }: ItemsWanted,
): Promise<PagedRun[]> {
  const threadId = textKey(sessionId);
  let next = before ? { runId: textKey(before.runId), index: before.index } : undefined;
  const runs: PagedRun[] = [];
  let room = limit;
  for (;;) {
    const found: FunctionReturnType<typeof api.history.page> = await deployment.query(
      api.history.page,
      { threadId, ...(next && { before: next }), limit: room },
    );
    runs.push(...found.runs);
    if (found.next === null) return runs;
    next = found.next;
    room -= found.runs.reduce((sum, { items }) => sum + items.to, 0);
  }
}

/** Returns the ranges of the newest items of these runs, newest first. */
function newestRanges(runs: readonly PagedRun[], limit: number): ItemRange[] {
  let room = limit;
  return runs.flatMap(({ items }) => {
    const from = Math.max(0, items.to - Math.max(0, room));
    room -= items.to;
    return from < items.to ? { ...items, from } : [];
  });
}

/** A run of a page whose items are read separately. */
function pageRun({ head, items }: PagedRun): PageRun<string, never> {
  return { head: () => head, count: items.to, items: () => [], sizes: () => [] };
}

/**
 * Returns the items of these ranges, newest first in each range: at most `size` bytes of JSON, but at least one item.
 */
export async function* itemsIn(
  deployment: Deployment,
  ranges: readonly ItemRange[],
  size = Infinity,
): AsyncGenerator<StoredItem> {
  let room = size;
  let isFirst = true;
  // The parts of the item that is being read. The last part of an item arrives first.
  let parts: string[] = [];
  for (let rest = [...ranges]; rest.length > 0;) {
    const found = await deployment.query(api.history.items, { ranges: rest });
    for (const { runId, index, part, text } of found.rows) {
      room -= Buffer.byteLength(text);
      if (room < 0 && !isFirst) return;
      parts.push(text);
      if (part > 0) continue;
      const item = readItem(parts.toReversed().join(''), index);
      yield { runId: idOfTextKey(runId), index, item };
      parts = [];
      isFirst = false;
    }
    rest = found.rest;
  }
}
