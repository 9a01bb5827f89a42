import { useState } from 'react';

/** So many of a session's notices are remembered as read, the newest of them. */
const most = 50;

/** The session's notices that somebody has read on this device, and how another one becomes that. */
export function useDismissed(sessionId: string): [readonly string[], (text: string) => void] {
  const key = `liminal.dismissed.${sessionId}`;
  const [dismissed, setDismissed] = useState(() => readTexts(localStorage.getItem(key)));
  const dismiss = (text: string) => {
    const texts = [...dismissed, text].slice(-most);
    setDismissed(texts);
    localStorage.setItem(key, JSON.stringify(texts));
  };
  return [dismissed, dismiss];
}

function readTexts(kept: string | null): string[] {
  try {
    const texts: unknown = JSON.parse(kept ?? '[]');
    return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}
