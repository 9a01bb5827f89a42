import type { Response } from '@liminal/protocol';
import type { FunctionArgs } from 'convex/server';
import type { ItemPage, ItemsWanted, ResponseHead, StoredItem } from '../response-store.ts';
import { parsed, readHead, readItem } from '../store/stored-json.ts';
import { idOf, textKey } from '../store/text-key.ts';
import { api, type Deployment } from './deployment.ts';

export type Range = FunctionArgs<typeof api.history.items>['ranges'][number];

export async function readResponse(
  deployment: Deployment,
  runId: string,
): Promise<Response | undefined> {
  const found = await deployment.query(api.history.head, { runId: textKey(runId) });
  if (!found) return undefined;
  const items = await readRanges(deployment, [found.items]);
  return {
    ...readHead(found.head, { runId, sessionId: '' }),
    outputItems: items.map(({ item }) => item),
  };
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
    if (found.next === null) return heads.flatMap((head) => parsedHead(head) ?? []);
    from = found.next;
  }
}

export async function readItems(
  deployment: Deployment,
  sessionId: string,
  { before, limit }: ItemsWanted,
): Promise<ItemPage> {
  const { ranges, heads, hasMore } = await deployment.query(api.history.page, {
    threadId: textKey(sessionId),
    ...(before && { before: { runId: textKey(before.runId), index: before.index } }),
    limit,
  });
  return {
    items: await readRanges(deployment, ranges),
    heads: heads.flatMap((head) => parsedHead(head) ?? []),
    hasMore,
  };
}

/** The items of these ranges, in order. */
export async function readRanges(
  deployment: Deployment,
  ranges: readonly Range[],
): Promise<StoredItem[]> {
  const texts = new Map<string, { runId: string; index: number; parts: string[] }>();
  let rest = [...ranges];
  while (rest.length > 0) {
    const found = await deployment.query(api.history.items, { ranges: rest });
    for (const { runId, index, text } of found.rows) {
      const key = `${index} ${runId}`;
      const item = texts.get(key) ?? { runId, index, parts: [] };
      item.parts.push(text);
      texts.set(key, item);
    }
    rest = found.rest;
  }
  return Array.from(texts.values(), ({ runId, index, parts }) => ({
    runId: idOf(runId),
    index,
    item: readItem(parts.join(''), index),
  }));
}

/** Heads come without what they belong to: one that cannot be read is left out. */
function parsedHead(head: string): ResponseHead | undefined {
  return parsed(head) as ResponseHead | undefined;
}
