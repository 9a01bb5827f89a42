import type {
  ContentBlock,
  HistoryPage,
  SessionInfo,
  TurnSummary,
  UpsertObject,
} from '@liminal/protocol';

/** The loaded part of a turn: its summary and its items, the oldest first. */
export interface TurnView extends Partial<Omit<TurnSummary, 'turnId' | 'status'>> {
  readonly turnId: string;
  readonly status: TurnSummary['status'];
  readonly items: readonly UpsertObject[];
  /**
   * Items that began before the oldest loaded page of the turn, each with its index in the turn. They are the first of
   * `items`.
   */
  readonly earlier?: HistoryPage['earlier'];
}

/** A message that this client has sent and that the server does not show yet. */
export interface PendingMessage {
  /** The id of the turn that the message will begin. The client chooses this id. */
  readonly turnId: string;
  /** Whether the message is for the running turn. `turnId` is then the id of the message. */
  readonly isSteer?: true | undefined;
  readonly message: string;
  /** The message's attachments. A file with a local name (`local:…`) is read from `client.files`. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /**
   * `waiting`: the server is unavailable. `failed`: the server refused the message (`error`), and a person must decide
   * what to do.
   */
  readonly state: 'sending' | 'waiting' | 'sent' | 'failed';
  readonly error?: { code: string; message: string } | undefined;
}

/**
 * All data of one session that a page shows. The view is immutable. A part that a message does not change stays the
 * same object, so that a renderer can compare by reference.
 */
export interface SessionView {
  readonly sessionId: string;
  /**
   * `loading`: the session's history has not arrived yet. `failed`: the session cannot be loaded, and `problem`
   * contains the reason. `deleted`: the session was deleted.
   */
  readonly phase: 'loading' | 'ready' | 'failed' | 'deleted';
  /** The turns, the oldest first. */
  readonly turns: readonly TurnView[];
  readonly pending: readonly PendingMessage[];
  readonly info?: SessionInfo;
  readonly problem?: { code: string; message: string };
  /** The cursor for the next subscription; empty before the first history. */
  readonly cursor: string;
  /** Whether the server has older pages, and the cursor with which the next page is requested. */
  readonly hasMore: boolean;
  readonly before?: string | undefined;
  /** Whether a message did not fit this view, so that the client must subscribe again with `cursor`. */
  readonly needsResync: boolean;
}

export function emptyView(sessionId: string): SessionView {
  return {
    sessionId,
    phase: 'loading',
    turns: [],
    pending: [],
    cursor: '',
    hasMore: false,
    needsResync: false,
  };
}

/** Replaces one turn, or adds it at the end; all other turns stay the same objects. */
export function putTurn(
  turns: readonly TurnView[],
  turnId: string,
  change: (turn: TurnView) => TurnView,
): readonly TurnView[] {
  const index = turns.findLastIndex((turn) => turn.turnId === turnId);
  const known = turns[index];
  const changed = change(known ?? { turnId, status: 'in_progress', items: [] });
  if (known === undefined) return [...turns, changed];
  return changed === known ? turns : turns.with(index, changed);
}

export function findItem(turn: TurnView, itemId: string): UpsertObject | undefined {
  return turn.items.findLast((item) => item.itemId === itemId);
}
