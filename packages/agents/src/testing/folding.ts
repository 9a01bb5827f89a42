/** Folds turns for tests. */
import {
  emptyResponse,
  foldResponse,
  foldUpsert,
  stampEvent,
  startUpsertFold,
  toResponse,
  type EventDraft,
  type EventPayload,
  type OutputItem,
  type Response,
  type UpsertObject,
} from '@liminal/protocol';

const run = {
  sessionId: 's',
  runId: 'r',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
};

export const turnIdsOf = (drafts: readonly EventDraft[]): string[] => [
  ...new Set(drafts.map(({ turnId }) => turnId)),
];

export const payloadsOf = (drafts: readonly EventDraft[], turnId: string): EventPayload[] =>
  drafts.filter((draft) => draft.turnId === turnId).map(({ payload }) => payload);

/** Returns a turn in the form that history stores. */
export function foldTurn(drafts: readonly EventDraft[], turnId: string): Response {
  const state = drafts
    .filter((draft) => draft.turnId === turnId)
    .reduce(
      (folded, draft, seq) => foldResponse(folded, stampEvent(draft, run, seq)),
      emptyResponse(),
    );
  const response = toResponse(state);
  if (response === undefined) throw new Error(`Turn ${turnId} has not begun.`);
  return response;
}

/** Returns all turns by id. */
export const foldTurns = (drafts: readonly EventDraft[]): Map<string, Response> =>
  new Map(turnIdsOf(drafts).map((turnId) => [turnId, foldTurn(drafts, turnId)]));

/** Returns all upserts for subscribers, in order. */
export function upsertsOf(drafts: readonly EventDraft[]): UpsertObject[] {
  const upserts: UpsertObject[] = [];
  let state = startUpsertFold();
  for (const [seq, draft] of drafts.entries()) {
    const folded = foldUpsert(state, stampEvent(draft, run, seq), Date.parse(draft.timestamp));
    state = folded.state;
    for (const output of folded.outputs) if (output.kind === 'upsert') upserts.push(output.upsert);
  }
  return upserts;
}

export const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

/** Returns the origin and text of each message and reasoning item, without the user's first message. */
export const textsIn = (response: Response): [string, string][] =>
  response.outputItems.slice(1).flatMap((item): [string, string][] => {
    if (item.type === 'message') return [[item.origin, item.content]];
    return item.type === 'reasoning' ? [['thought', item.content]] : [];
  });

/** Returns the violations of invariants 2 and 3 in a turn; empty if there are none. */
export function brokenRules(payloads: readonly EventPayload[]): string[] {
  const ends = payloads.filter(({ type }) => type === 'response_done' || type === 'response_error');
  const starts = payloads.filter(({ type }) => type === 'response_start');
  const open = new Set<string>();
  const seen = new Set<string>();
  const broken: string[] = [];
  for (const payload of payloads) {
    if (!('itemId' in payload)) continue;
    const { itemId, type } = payload;
    if (type === 'item_start') {
      if (seen.has(itemId)) broken.push(`${itemId} begins twice`);
      seen.add(itemId);
      open.add(itemId);
    } else if (!open.has(itemId)) broken.push(`${type} of ${itemId}, which is not open`);
    if (type !== 'item_start' && type !== 'item_delta') open.delete(itemId);
  }
  if (payloads[0]?.type !== 'response_start' || starts.length !== 1) broken.push('no one start');
  if (ends.length !== 1 || ends[0] !== payloads.at(-1)) broken.push('no one end');
  return [...broken, ...[...open].map((itemId) => `${itemId} stays open`)];
}
