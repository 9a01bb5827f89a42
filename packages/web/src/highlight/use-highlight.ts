import { BoundedMap } from '@liminal/protocol';
import { useEffect, useState } from 'react';
import { colour } from './colour.ts';
import type { ColouredLines } from './coloured-lines.ts';

/** Code with more characters than this stays plain: rendering all its colours would block the page. */
const longest = 100_000;
/**
 * Code with more coloured pieces than this also stays plain: each piece is an element of the page, and all pieces may
 * be in one line.
 */
const mostTokens = 10_000;

/** The code that was coloured most recently, so that the code does not flash when it is shown again. */
const recent = new BoundedMap<string, ColouredLines>(300);

/** Returns the code's coloured lines; undefined until they are ready, and for a language without colours. */
export function useHighlight(code: string, language: string): ColouredLines | undefined {
  const isPlain = language === '' || code.length > longest;
  const key = `${language} ${code}`;
  const [coloured, setColoured] = useState<{ key: string; lines: ColouredLines }>();
  const cached = recent.get(key);

  useEffect(() => {
    if (isPlain || recent.has(key)) return undefined;
    let wanted = true;
    void colour(code, language).then((lines) => {
      // Code without colours stays readable, so failures are ignored.
      if (lines === undefined || tokensIn(lines) > mostTokens) return;
      recent.set(key, lines);
      if (wanted) setColoured({ key, lines });
    });
    return () => {
      wanted = false;
    };
  }, [code, isPlain, key, language]);

  if (isPlain) return undefined;
  return cached ?? (coloured?.key === key ? coloured.lines : undefined);
}

function tokensIn(lines: ColouredLines): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}
