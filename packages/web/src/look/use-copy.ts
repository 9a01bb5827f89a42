import { useEffect, useState } from 'react';
import { pastedOf } from '../words/label.ts';

/** Returns a function that copies text. `copied` is true for a moment after the text was copied. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (text: string) => {
    void writeClipboard(text).then(setCopied);
  };
  return { copied, copy };
}

/**
 * Returns whether the text was copied. Browsers may refuse to copy, and offer no clipboard to pages that were loaded
 * from another machine without TLS.
 */
export async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(pastedOf(text));
    return true;
  } catch {
    return false;
  }
}
