import 'katex/dist/katex.min.css';
import katex from 'katex';
import { type ReactNode, useMemo } from 'react';
import css from './Tex.module.css';

interface FormulaProps {
  source: string;
  display: boolean;
  /** Shown where there is a mistake in it. */
  fallback: ReactNode;
}

/**
 * A formula drawn by KaTeX, with its MathML for those who hear the page. It may not link, load or name anything
 * (`trust`), and its macros grow only so far.
 */
export default function Formula({ source, display, fallback }: FormulaProps) {
  const html = useMemo(() => draw(source, display), [source, display]);
  if (html === undefined) return fallback;
  return (
    <span
      className={display ? css.display : undefined}
      dir="ltr"
      // KaTeX escapes what it is given.
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}

function draw(source: string, displayMode: boolean): string | undefined {
  try {
    const bounds = { trust: false, maxExpand: 300, maxSize: 30, strict: 'ignore' } as const;
    return katex.renderToString(source, { displayMode, throwOnError: true, ...bounds });
  } catch {
    return undefined;
  }
}
