import type { OutboxChange } from '../outbox/outbox.ts';
import { steeredItemId } from '@liminal/protocol';
import { findItem, type PendingMessage, type SessionView, type TurnView } from './view.ts';

const states = {
  sending: 'sending',
  waiting: 'waiting',
  refused: 'failed',
  delivered: 'sent',
} as const;

/** Applies a change in a message's state. The message is shown as pending at once, until the server shows it. */
export function applyOutboxChange(view: SessionView, change: OutboxChange): SessionView {
  const { turnId, message, blocks, isSteer, state, problem: error } = change;
  const index = view.pending.findIndex((held) => held.turnId === turnId);
  if (state === 'gone') return index < 0 ? view : withoutPending(view, turnId);
  const pending: PendingMessage = {
    turnId,
    message,
    blocks,
    isSteer,
    state: states[state],
    error,
  };
  if (index >= 0) return settlePending({ ...view, pending: view.pending.with(index, pending) });
  // If the server already shows a delivered message, do not add it to the pending messages again.
  if (state === 'delivered') return view;
  return settlePending({ ...view, pending: [...view.pending, pending] });
}

/** Removes pending messages that the server now shows in their turn or in the queue. */
export function settlePending(view: SessionView): SessionView {
  const open = view.pending.filter((held) => !isShownByServer(view, held));
  return open.length === view.pending.length ? view : { ...view, pending: open };
}

function withoutPending(view: SessionView, turnId: string): SessionView {
  return { ...view, pending: view.pending.filter((held) => held.turnId !== turnId) };
}

function isShownByServer(view: SessionView, { turnId, isSteer }: PendingMessage): boolean {
  if (view.info?.queue.some((queued) => queued.turnId === turnId)) return true;
  if (isSteer === true && view.turns.some((turn) => hasSteered(turn, turnId))) return true;
  const turn = view.turns.find((one) => one.turnId === turnId);
  if (turn === undefined) return false;
  return (
    turn.status !== 'in_progress' ||
    turn.items.some((item) => item.type === 'message' && item.origin === 'user')
  );
}

const hasSteered = (turn: TurnView, messageId: string): boolean =>
  findItem(turn, steeredItemId(turn.turnId, messageId)) !== undefined;
