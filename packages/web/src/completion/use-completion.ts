import { type KeyboardEvent, useId, useState } from 'react';

/** How a completion was chosen: by a press of the pointer, or by a key. */
export type Chosen = 'press' | 'Enter' | 'Tab';

/** The completions of what is being typed in a text field. */
export interface Completion<T> {
  /** Of the list; its options have `-0`, `-1` … behind it. */
  id: string;
  /** Whether there is something to show, and Escape has not closed it. */
  isOpen: boolean;
  matches: readonly T[];
  /** The index of the selected match. */
  active: number;
  pick: (match: T, chosen: Chosen) => void;
  /** Whether the key was for the completions. */
  onKey: (event: KeyboardEvent) => boolean;
}

interface CompletionOptions<T> {
  matches: readonly T[];
  /** What is being typed, for Escape: the menu stays closed while this stays the same. Undefined if there is nothing. */
  typed: string | number | undefined;
  /** There is something to show beside the matches. */
  hasNote?: boolean;
  onPick: (match: T, chosen: Chosen) => void;
  /** A match that Enter does not take, since it is written in full. */
  isWritten?: (match: T) => boolean;
}

/** Keys choose among completions: the arrows, Enter and Tab, Escape. */
export function useCompletion<T>(options: CompletionOptions<T>): Completion<T> {
  const { matches, typed, hasNote = false, onPick, isWritten } = options;
  const id = useId();
  const [selected, setSelected] = useState(0);
  const [dismissed, setDismissed] = useState<string | number>();
  if (typed === undefined && dismissed !== undefined) setDismissed(undefined);
  const isShown = typed !== undefined && typed !== dismissed;
  const isOpen = isShown && (matches.length > 0 || hasNote);
  const active = Math.min(selected, Math.max(0, matches.length - 1));

  const pick = (match: T, chosen: Chosen) => {
    onPick(match, chosen);
    setSelected(0);
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (!isOpen) return false;
    if (event.key === 'Escape') {
      setDismissed(typed);
      event.stopPropagation();
      return true;
    }
    const chosen = matches[active];
    if (chosen === undefined) return false;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        setSelected((active + step + matches.length) % matches.length);
        return true;
      }
      case 'Enter':
      case 'Tab':
        if (event.shiftKey) return false;
        if (event.key === 'Enter' && isWritten?.(chosen) === true) return false;
        pick(chosen, event.key);
        return true;
      default:
        setSelected(0);
        return false;
    }
  };
  return { id, isOpen, matches, active, pick, onKey };
}
