import {
  appendText,
  type ServerMessage,
  type TurnEvent,
  type UpsertObject,
} from '@liminal/protocol';
import { applyHistory } from './history.ts';
import { settlePending } from './pending.ts';
import { findItem, putTurn, type SessionView, type TurnView } from './view.ts';

/**
 * Returns a session's view after one further message of the server (invariant 7). The function is pure. Messages of
 * other sessions change nothing. `now` (ms since the epoch) is used for data that has no time in the message.
 */
export function applyMessage(view: SessionView, message: ServerMessage, now: number): SessionView {
  if (!('sessionId' in message) || message.sessionId !== view.sessionId) return view;
  return settlePending(apply(view, message, now));
}

function apply(view: SessionView, message: ServerMessage, now: number): SessionView {
  switch (message.type) {
    case 'session:history':
      return applyHistory(view, message);
    case 'session:upsert':
      return advance(view, message.cursor, message.payload.turnId, (turn) =>
        putItem(turn, message.payload),
      );
    case 'session:append':
      return applyAppend(view, message);
    case 'session:discard':
      return advance(view, message.cursor, message.turnId, (turn) =>
        removeItem(turn, message.itemId),
      );
    case 'session:turn':
      return advance(view, message.cursor, message.payload.turnId, (turn) =>
        applyTurnEvent(turn, message.payload, now),
      );
    case 'session:info':
      return { ...view, info: message.info };
    case 'session:error':
      return applyProblem(view, message);
    case 'session:deleted':
    case 'sessions:changed':
    case 'pong':
      return view;
  }
}

/**
 * Returns the view with a changed turn and with the message's cursor. While a resync is needed, the cursor must stay
 * before the missing data.
 */
function advance(
  view: SessionView,
  cursor: string,
  turnId: string,
  change: (turn: TurnView) => TurnView,
): SessionView {
  const turns = putTurn(view.turns, turnId, change);
  return { ...view, turns, cursor: view.needsResync ? view.cursor : cursor };
}

function putItem(turn: TurnView, item: UpsertObject): TurnView {
  const index = turn.items.findLastIndex((held) => held.itemId === item.itemId);
  const items = index < 0 ? [...turn.items, item] : turn.items.with(index, item);
  return { ...turn, items };
}

function removeItem(turn: TurnView, itemId: string): TurnView {
  const items = turn.items.filter((item) => item.itemId !== itemId);
  return items.length === turn.items.length ? turn : { ...turn, items };
}

function applyAppend(
  view: SessionView,
  message: Extract<ServerMessage, { type: 'session:append' }>,
): SessionView {
  const turn = view.turns.findLast((held) => held.turnId === message.turnId);
  const item = turn && findItem(turn, message.itemId);
  const grown = item && appendText(item, message);
  if (grown === undefined) return { ...view, needsResync: true };
  return advance(view, message.cursor, message.turnId, (held) => putItem(held, grown));
}

function applyTurnEvent(turn: TurnView, event: TurnEvent, now: number): TurnView {
  switch (event.type) {
    case 'turn_started': {
      const { modelId, providerId, trigger = turn.trigger } = event;
      const startedAt = turn.startedAt ?? now;
      const head = { modelId, providerId, trigger, startedAt };
      const started = { ...turn, ...head, status: 'in_progress' } as const;
      return { ...started, endedAt: undefined, finishReason: undefined, error: undefined };
    }
    case 'turn_complete': {
      const status = event.status === 'completed' ? 'complete' : 'aborted';
      const { finishReason, usage = turn.usage, rewoundTo } = event;
      const end = { endedAt: now, finishReason, usage };
      return { ...turn, status, ...end, ...(rewoundTo !== undefined && { rewoundTo }) };
    }
    case 'turn_error': {
      const error = { code: event.errorCode, message: event.errorMessage };
      return { ...turn, status: 'error', endedAt: now, error };
    }
  }
}

function applyProblem(
  view: SessionView,
  message: Extract<ServerMessage, { type: 'session:error' }>,
): SessionView {
  const problem = { code: message.code, message: message.message };
  return { ...view, problem, phase: view.phase === 'ready' ? 'ready' : 'failed' };
}
