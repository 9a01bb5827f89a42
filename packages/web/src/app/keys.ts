const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** How a key together with the Alt key is called here. */
export function altKey(key: string): string {
  return isMac ? `⌥${key}` : `Alt+${key}`;
}

/** How a key together with the command key (Ctrl elsewhere) is called here. */
export function commandKey(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

export function hasCommandKey(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey : event.ctrlKey;
}
