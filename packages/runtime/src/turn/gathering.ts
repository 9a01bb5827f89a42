import { type EventDraft, GrowingText, type ItemPatch } from '@liminal/protocol';

export type DeltaDraft = EventDraft & { payload: { type: 'item_delta' } };

/** Deltas of one item that become one event: the first delta, and the text after it. */
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
    // The new arguments replace the text so far.
    gathering.more.take();
    gathering.first = withoutText(gathering.first);
  }
  gathering.more.add(payload.deltaContent);
  if (payload.patch) gathering.first = withPatch(gathering.first, payload.patch);
}

/** Copies the draft, because the caller may still hold it. */
function withPatch({ payload, ...draft }: DeltaDraft, patch: ItemPatch): DeltaDraft {
  return { ...draft, payload: { ...payload, patch: { ...payload.patch, ...patch } } };
}

function withoutText({ payload, ...draft }: DeltaDraft): DeltaDraft {
  return { ...draft, payload: { ...payload, deltaContent: '' } };
}

export function joined({ first: { payload, ...draft }, more }: Gathering): EventDraft {
  return { ...draft, payload: { ...payload, deltaContent: payload.deltaContent + more.take() } };
}
