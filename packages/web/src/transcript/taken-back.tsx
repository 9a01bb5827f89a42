import type { TurnView } from '@liminal/client';
import { isServerTurn, takenBack, type UpsertObject } from '@liminal/protocol';
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import { Button } from '../look/controls.tsx';
import { openName, type RowMemory, RowScope, useRemembered } from './remembered.ts';

/** The turns of a conversation, without the turns that were taken back and are folded. */
export interface FoldedTurns {
  shown: readonly TurnView[];
  /** For each turn that was taken back, by its id: the id of the last turn of the server that took it back. */
  gone: ReadonlyMap<string, string>;
  /** For each turn of the server that took turns back, by its id: the number of turns that it took back. */
  counts: ReadonlyMap<string, number>;
  /** Opens the fold that contains an item, if the item is in a fold. */
  unfold: (itemId: string) => void;
}

/** Folds turns that were taken back, unless a person has opened the fold. */
export function useFoldedTurns(turns: readonly TurnView[], memory: RowMemory): FoldedTurns {
  const gone = useMemo(() => takenBack(turns), [turns]);
  const readOpen = () =>
    [...new Set(gone.values())].filter((by) => memory.get(by, openName) === true).join(' ');
  const opened = useSyncExternalStore(memory.subscribe, readOpen, readOpen);
  return useMemo(() => {
    const open = new Set(opened.split(' '));
    const shown =
      gone.size === 0 ? turns : turns.filter(({ turnId }) => isOpen(gone.get(turnId), open));
    const counts = new Map<string, number>();
    for (const turn of turns) {
      const by = gone.get(turn.turnId);
      if (by !== undefined && !isServerTurn(turn)) counts.set(by, (counts.get(by) ?? 0) + 1);
    }
    const unfold = (itemId: string) => {
      const of = turns.find(({ items }) => items.some((item) => item.itemId === itemId));
      const by = gone.get(of?.turnId ?? '');
      if (by !== undefined) memory.set(by, openName, true);
    };
    return { shown, gone, counts, unfold };
  }, [gone, memory, opened, turns]);
}

/**
 * Returns the id of the newest turn that began with a person's message and was not taken back; undefined if there is
 * none.
 */
export function lastTakeable(turns: readonly TurnView[]): string | undefined {
  const gone = takenBack(turns);
  return turns.findLast((turn) => !gone.has(turn.turnId) && turn.items.some(hasBegunTurn))?.turnId;
}

const hasBegunTurn = (item: UpsertObject): boolean =>
  item.type === 'message' && item.origin === 'user' && item.delivery === undefined;

const isOpen = (by: string | undefined, open: ReadonlySet<string>): boolean =>
  by === undefined || open.has(by);

const CountsContext = createContext<ReadonlyMap<string, number>>(new Map());

/** Provides, for each turn of the server, the number of turns that it took back. */
export const TakenBackProvider = CountsContext.Provider;

/** A button that shows or folds the turns above it that a turn of the server has taken back. */
export function TakenBackFold({ turnId }: { turnId: string }) {
  const count = useContext(CountsContext).get(turnId) ?? 0;
  if (count === 0) return null;
  return (
    <RowScope value={turnId}>
      <Toggle count={count} />
    </RowScope>
  );
}

function Toggle({ count }: { count: number }) {
  const [open, setOpen] = useRemembered(openName, false);
  const turns = count === 1 ? '1 turn' : `${count} turns`;
  return (
    <Button look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
      {turns} taken back · {open ? 'Hide' : 'Show'}
    </Button>
  );
}
