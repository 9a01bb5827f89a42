import { useEffect } from 'react';
import { hasCommandKey, isMac } from './keys.ts';
import { isTyping } from './typing.ts';

export interface Shortcuts {
  palette: () => void;
  sidebar: () => void;
  newSession: () => void;
  help: () => void;
  closeTab: () => void;
  /** Counts from 0. */
  goToTab: (index: number) => void;
  /** Shows the tab on the right (1) or on the left (-1). */
  stepTab: (step: 1 | -1) => void;
  nextWaiting: () => void;
  compose: () => void;
}

/** Handles the keys that work everywhere, except while a dialog is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]') !== null) return;
      const action = findShortcut(event, shortcuts);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [shortcuts]);
}

function findShortcut(event: KeyboardEvent, shortcuts: Shortcuts): (() => void) | undefined {
  if (hasCommandKey(event) && event.code === 'KeyK') return shortcuts.palette;
  if (hasCommandKey(event) && event.code === 'KeyB') return shortcuts.sidebar;
  if (event.altKey && !typesText(event)) return withAlt(event.code, shortcuts);
  if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return undefined;
  if (event.key === '?') return shortcuts.help;
  return event.key === '/' ? shortcuts.compose : undefined;
}

/**
 * Whether a key pressed with Alt types text or belongs to another key combination. On a Mac, Option types characters
 * that most layouts have on no other key, such as [ ] { } | and ~. While a person types on a Mac, only Control and
 * Option together are a shortcut. On other systems, AltGr types such characters; some of these systems report AltGr as
 * Alt, or as Ctrl and Alt.
 */
function typesText(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, target } = event;
  if (metaKey || (ctrlKey && !isMac) || event.getModifierState('AltGraph')) return true;
  if (!isTyping(target)) return false;
  return isMac ? !ctrlKey : !typesPositionKey(event);
}

/** Whether the key types the letter, digit or bracket of its position although Alt is pressed. */
function typesPositionKey({ code, key }: KeyboardEvent): boolean {
  if (code === 'BracketLeft') return key === '[';
  if (code === 'BracketRight') return key === ']';
  return code === `Digit${key}` || code === `Key${key.toUpperCase()}`;
}

/**
 * Returns the shortcut of a key pressed with Alt, by the key's position: with Alt, some keyboard layouts type another
 * letter.
 */
function withAlt(code: string, shortcuts: Shortcuts): (() => void) | undefined {
  const digit = /^Digit([1-9])$/.exec(code)?.[1];
  if (digit !== undefined) return () => shortcuts.goToTab(Number(digit) - 1);
  switch (code) {
    case 'KeyN':
      return shortcuts.newSession;
    case 'KeyW':
      return shortcuts.closeTab;
    case 'KeyJ':
      return shortcuts.nextWaiting;
    case 'BracketRight':
      return () => shortcuts.stepTab(1);
    case 'BracketLeft':
      return () => shortcuts.stepTab(-1);
    default:
      return undefined;
  }
}
