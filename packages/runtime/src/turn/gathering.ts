import { type EventDraft, GrowingText, type ItemPatch } from '@liminal/protocol';

export type DeltaDraft = EventDraft & { payload: { type: 'item_delta' } };

/** Several deltas of one item that will be one event: the first delta, and the text of the later deltas. */
export interface Gathering {
  first: DeltaDraft;
  more: GrowingText;
}

export function gatherFrom(first: DeltaDraft): Gathering {
  return { first, more: new GrowingText() };
}

export function isDelta(draft: EventDraft): draft is DeltaDraft {
  return draft.payload.type === 'item_delta';
}

export function gather(gathering: Gathering, { payload }: DeltaDraft): void {
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

export function joined({ first: { payload, ...draft }, more }: Gathering): EventDraft {
  return { ...draft, payload: { ...payload, deltaContent: payload.deltaContent + more.take() } };
}
