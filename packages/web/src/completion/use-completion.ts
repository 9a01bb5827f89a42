import { type KeyboardEvent, useId, useState } from 'react';

/** How a person chose a completion: with the pointer, or with a key. */
export type PickedBy = 'press' | 'Enter' | 'Tab';

/** The completions for the text that is being typed in a field. */
export interface Completion<T> {
  /** The list's element id. The ids of the options end with `-0`, `-1` … */
  id: string;
  /** Whether the menu has content and was not closed with Escape. */
  isOpen: boolean;
  matches: readonly T[];
  /** The index of the selected match. */
  active: number;
  pick: (match: T, chosen: PickedBy) => void;
  /** Returns whether the completions handled the key. */
  onKey: (event: KeyboardEvent) => boolean;
}

interface CompletionOptions<T> {
  matches: readonly T[];
  /**
   * Identifies the typed text: after Escape, the menu stays closed until this value changes. Undefined if nothing is
   * typed.
   */
  typed: string | number | undefined;
  /** Whether there is a note that is shown beside the matches. */
  hasNote?: boolean;
  onPick: (match: T, chosen: PickedBy) => void;
  /** Whether a match is already typed completely, so that Enter sends the message instead of taking the match. */
  isWritten?: (match: T) => boolean;
}

/**
 * Returns completions that a person chooses with keys: the arrow keys select, Enter and Tab take the selected match,
 * Escape closes the menu.
 */
export function useCompletion<T>(options: CompletionOptions<T>): Completion<T> {
  const { matches, typed, hasNote = false, onPick, isWritten } = options;
  const id = useId();
  const [selected, setSelected] = useState(0);
  const [dismissed, setDismissed] = useState<string | number>();
  if (typed === undefined && dismissed !== undefined) setDismissed(undefined);
  const isShown = typed !== undefined && typed !== dismissed;
  const isOpen = isShown && (matches.length > 0 || hasNote);
  const active = Math.min(selected, Math.max(0, matches.length - 1));

  const pick = (match: T, chosen: PickedBy) => {
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
