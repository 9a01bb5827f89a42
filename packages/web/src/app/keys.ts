export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Returns the name that a key pressed with Alt has on this system. */
export function altKey(key: string): string {
  return isMac ? `⌥${key}` : `Alt+${key}`;
}

/** The rule for key combinations with Alt while a person types; undefined on systems without such a rule. */
export const altWhileTyping = isMac
  ? 'While you type: Control as well, for example ⌃⌥N'
  : undefined;

/** Returns the name that a key pressed with the command key (Ctrl except on a Mac) has on this system. */
export function commandKey(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

export function hasCommandKey(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey : event.ctrlKey;
}
