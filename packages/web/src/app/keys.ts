export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The name here of a key pressed with Alt. */
export function altKey(key: string): string {
  return isMac ? `⌥${key}` : `Alt+${key}`;
}

/** What holds for chords with Alt while a person types; undefined if nothing does. */
export const altWhileTyping = isMac
  ? 'While you type: Control as well, for example ⌃⌥N'
  : undefined;

/** The name here of a key pressed with the command key (Ctrl elsewhere). */
export function commandKey(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

export function hasCommandKey(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey : event.ctrlKey;
}
