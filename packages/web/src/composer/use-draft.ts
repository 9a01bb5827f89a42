import { useState } from 'react';

/** A session's unsent message. Outlives tabs and reloads, and ends with the browser's tab. */
export function useDraft(sessionId: string): [string, (text: string) => void] {
  const key = `liminal.draft.${sessionId}`;
  const [draft, setDraft] = useState(() => sessionStorage.getItem(key) ?? '');
  const change = (text: string) => {
    setDraft(text);
    if (text === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  };
  return [draft, change];
}
