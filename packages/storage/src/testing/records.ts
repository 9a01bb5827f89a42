import type { OutputItem, Response } from '@liminal/protocol';
import type { ResponseHead, ResponseStore, SessionRecord } from '../response-store.ts';

export function sessionRecord(
  sessionId: string,
  fields: Partial<SessionRecord> = {},
): SessionRecord {
  return {
    sessionId,
    cliType: 'demo',
    projectId: 'project-1',
    projectDir: '/project',
    title: 'Title',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    active: true,
    failed: false,
    config: {},
    queue: [],
    imported: false,
    fence: 0,
    ...fields,
  };
}

export function message(content: string, id = `item-${content.slice(0, 20)}`): OutputItem {
  return { id, type: 'message', origin: 'agent', content };
}

/** Returns a Response of a session. The Response contains one message for each text. */
export function response(id: string, texts: string[], fields: Partial<Response> = {}): Response {
  return {
    id,
    turnId: id,
    sessionId: 'session-1',
    modelId: 'model-1',
    providerId: 'demo',
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_001_000,
    status: 'complete',
    outputItems: texts.map((text, index) => message(text, `${id}-item-${index}`)),
    finishReason: null,
    lastSeq: texts.length,
    ...fields,
  };
}

export function headOf(response: Response): ResponseHead {
  const { outputItems: _, ...head } = response;
  return head;
}

/**
 * Reads all items of a session page by page. Returns the items as `runId:index`, and the heads in the order of the
 * pages.
 */
export async function readAllPages(
  store: ResponseStore,
  sessionId: string,
  limit: number,
  size?: number,
) {
  const pages: { places: string[]; heads: string[]; hasMore: boolean }[] = [];
  let before: { runId: string; index: number } | undefined;
  for (;;) {
    const wanted = { limit, ...(size !== undefined && { size }) };
    const page = await store.readItems(sessionId, { ...wanted, ...(before && { before }) });
    pages.push({
      places: page.items.map(({ runId, index }) => `${runId}:${index}`),
      heads: page.heads.map(({ id }) => id),
      hasMore: page.hasMore,
    });
    const [oldest] = page.items;
    if (!page.hasMore || !oldest) return pages;
    before = { runId: oldest.runId, index: oldest.index };
  }
}
