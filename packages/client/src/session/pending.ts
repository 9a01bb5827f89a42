import type { PendingMessage, SessionView } from './view.ts';

/** Shows a message at once, before the server has it. */
export function addPending(view: SessionView, localId: string, message: string): SessionView {
  const after = view.turns.at(-1)?.turnId;
  const pending: PendingMessage = { localId, message, state: 'sending', after };
  return { ...view, pending: [...view.pending, pending] };
}

/** The server has it and has said which turn will answer it. */
export function bindPending(view: SessionView, localId: string, turnId: string): SessionView {
  return settlePending(change(view, localId, (held) => ({ ...held, state: 'sent', turnId })));
}

/** It did not get through; its text stays, so that it can be sent again. */
export function failPending(
  view: SessionView,
  localId: string,
  error: { code: string; message: string },
): SessionView {
  return change(view, localId, (held) => ({ ...held, state: 'failed', error }));
}

export function removePending(view: SessionView, localId: string): SessionView {
  return { ...view, pending: view.pending.filter((held) => held.localId !== localId) };
}

/** Forgets what the server shows by itself: as a message of its turn, or in the queue. */
export function settlePending(view: SessionView): SessionView {
  const open = view.pending.filter((held) => !isShown(view, held));
  return open.length === view.pending.length ? view : { ...view, pending: open };
}

/**
 * Pending messages to draw. One whose answer is still on its way can be in the conversation already; it is known by
 * its text then, and left out.
 */
export function visiblePending(view: SessionView): readonly PendingMessage[] {
  const newest = view.turns.at(-1);
  const visible = view.pending.filter((held) => {
    if (held.state !== 'sending') return true;
    if (view.info?.queue.some((queued) => queued.message === held.message)) return false;
    return newest === undefined || newest.turnId === held.after || !says(view, held);
  });
  return visible.length === view.pending.length ? view.pending : visible;
}

function isShown(view: SessionView, held: PendingMessage): boolean {
  if (held.turnId === undefined || held.state !== 'sent') return false;
  if (view.info?.queue.some((queued) => queued.turnId === held.turnId)) return true;
  const turn = view.turns.find(({ turnId }) => turnId === held.turnId);
  if (turn === undefined) return false;
  return turn.status !== 'in_progress' || turn.items.some(isUserMessage);
}

function says(view: SessionView, held: PendingMessage): boolean {
  const items = view.turns.at(-1)?.items ?? [];
  return items.some((item) => isUserMessage(item) && item.content === held.message);
}

type Item = SessionView['turns'][number]['items'][number];

function isUserMessage(item: Item): item is Extract<Item, { type: 'message' }> {
  return item.type === 'message' && item.origin === 'user';
}

function change(
  view: SessionView,
  localId: string,
  update: (held: PendingMessage) => PendingMessage,
): SessionView {
  const pending = view.pending.map((held) => (held.localId === localId ? update(held) : held));
  return { ...view, pending };
}
