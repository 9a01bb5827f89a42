import { useState } from 'react';

/** Number of dismissed notices remembered per session; the newest are kept. */
const most = 50;

/** The session's notices that were dismissed on this device, and a function that dismisses one. */
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
