import { type EventDraft, GrowingText, type ItemPatch } from '@liminal/protocol';

export type DeltaDraft = EventDraft & { payload: { type: 'item_delta' } };

/** Deltas of one item that become one event: the first delta, and the text of later deltas, if there are any. */
export interface Gathering {
  first: DeltaDraft;
  more: GrowingText | undefined;
}

export function isDelta(draft: EventDraft): draft is DeltaDraft {
  return draft.payload.type === 'item_delta';
}

export function gather(gathering: Gathering, { payload }: DeltaDraft): void {
  gathering.more ??= new GrowingText();
  if (payload.patch?.arguments !== undefined) {
    // The new arguments replace all text so far.
    gathering.more.take();
    gathering.first = withoutText(gathering.first);
  }
  gathering.more.add(payload.deltaContent);
  if (payload.patch) gathering.first = withPatch(gathering.first, payload.patch);
}

/** Copies the draft instead of changing it, because the caller may still use it. */
function withPatch({ payload, ...draft }: DeltaDraft, patch: ItemPatch): DeltaDraft {
  return { ...draft, payload: { ...payload, patch: { ...payload.patch, ...patch } } };
}

function withoutText({ payload, ...draft }: DeltaDraft): DeltaDraft {
  return { ...draft, payload: { ...payload, deltaContent: '' } };
}

export function joined({ first, more }: Gathering): EventDraft {
  if (more === undefined) return first;
  const { payload, ...draft } = first;
  return { ...draft, payload: { ...payload, deltaContent: payload.deltaContent + more.take() } };
}
