import type {
  ContentBlock,
  HistoryPage,
  SessionInfo,
  TurnSummary,
  UpsertObject,
} from '@liminal/protocol';

/** A turn as far as it is known here: its summary and its items, oldest first. */
export interface TurnView extends Partial<Omit<TurnSummary, 'turnId' | 'status'>> {
  readonly turnId: string;
  readonly status: TurnSummary['status'];
  readonly items: readonly UpsertObject[];
  /** Items from before the oldest page of the turn, which are first here; with their places in the turn. */
  readonly earlier?: HistoryPage['earlier'];
}

/** A message that was sent from here and that the server has not shown yet. */
export interface PendingMessage {
  /** Id of the turn that it will start; chosen here. */
  readonly turnId: string;
  /** It is for the turn that runs; `turnId` is then its own id. */
  readonly isSteer?: true | undefined;
  readonly message: string;
  /** What is attached to it; a file with a local name (`local:…`) is read from `client.files`. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /** `waiting`: the server is away; `failed`: the server refused it (`error`), and a person must decide. */
  readonly state: 'sending' | 'waiting' | 'sent' | 'failed';
  readonly error?: { code: string; message: string } | undefined;
}

/**
 * Everything a page shows of one session. Immutable. What a message does not touch keeps its identity, so that a
 * renderer can compare by reference.
 */
export interface SessionView {
  readonly sessionId: string;
  /**
   * `loading` until the first history has come; `failed` if it cannot be loaded (`problem` says why); `deleted` if
   * somebody has deleted the session.
   */
  readonly phase: 'loading' | 'ready' | 'failed' | 'deleted';
  /** Oldest first. */
  readonly turns: readonly TurnView[];
  readonly pending: readonly PendingMessage[];
  readonly info?: SessionInfo;
  readonly problem?: { code: string; message: string };
  /** Where a new subscription continues; empty before the first history. */
  readonly cursor: string;
  /** Whether there are older pages, and the mark that requests the next one. */
  readonly hasMore: boolean;
  readonly before?: string | undefined;
  /** A message did not fit what is held: subscribe again with `cursor`. */
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

/** Replaces one turn, or adds it at the end; the others keep their identity. */
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
