import type { EventDraft, EventPayload, OutputItem } from '@liminal/protocol';

type Done = Extract<EventPayload, { type: 'item_done' }>;

/** Collects the payloads of a whole turn. */
export async function payloadsOf(drafts: AsyncIterable<EventDraft>): Promise<EventPayload[]> {
  const payloads: EventPayload[] = [];
  for await (const { payload } of drafts) payloads.push(payload);
  return payloads;
}

/** Returns the items of all `item_done` events. */
export const doneItems = (payloads: readonly EventPayload[]): OutputItem[] =>
  payloads
    .filter((payload): payload is Done => payload.type === 'item_done')
    .map(({ finalItem }) => finalItem);

/** Returns the values as an async stream. */
export async function* streamOf(values: Iterable<unknown>): AsyncGenerator<unknown> {
  yield* values;
}
