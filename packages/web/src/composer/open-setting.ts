import { useEffect } from 'react';

/** The functions that open the selects of the shown session's settings, by the setting’s id. */
const openers = new Map<string, () => void>();

/** Opens the select of a setting; does nothing if the session has no such setting. */
export function openSetting(id: string): void {
  // Wait until the message field has received the focus, so that the select receives it afterwards.
  setTimeout(() => openers.get(id)?.(), 0);
}

/** While the component is mounted, `openSetting` calls `open` for these settings. `ids` are separated by spaces. */
export function useOpener(ids: string, open: () => void): void {
  useEffect(() => {
    const own = ids.split(' ').filter((id) => id !== '');
    for (const id of own) openers.set(id, open);
    return () => {
      for (const id of own) if (openers.get(id) === open) openers.delete(id);
    };
  }, [ids, open]);
}
