export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The name on this system of a key pressed with Alt. */
export function altKey(key: string): string {
  return isMac ? `⌥${key}` : `Alt+${key}`;
}

/** The rule for Alt chords while a person types; undefined without such a rule. */
export const altWhileTyping = isMac
  ? 'While you type: Control as well, for example ⌃⌥N'
  : undefined;

/** The name on this system of a key pressed with the command key (Ctrl except on a Mac). */
export function commandKey(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

export function hasCommandKey(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey : event.ctrlKey;
}
